-- Verify qwf:functions/_topological

begin;

select 'qwf._topological(int, int[], int[])'::regprocedure;

rollback;
