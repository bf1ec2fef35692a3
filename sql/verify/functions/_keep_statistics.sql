-- Verify qwf:functions/_keep_statistics

begin;

select 'qwf._keep_statistics()'::regprocedure;

rollback;
