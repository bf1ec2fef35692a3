-- Verify qwf:functions/_cycles

begin;

select 'qwf._cycles(int, int[], int[])'::regprocedure;

rollback;
