-- Verify qwf:functions/_ancestors

begin;

select 'qwf._ancestors(int, int[], int[], int[], boolean[])'::regprocedure;

rollback;
