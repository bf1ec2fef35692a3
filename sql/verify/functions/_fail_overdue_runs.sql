-- Verify qwf:functions/_fail_overdue_runs

begin;

select 'qwf._fail_overdue_runs()'::regprocedure;

rollback;
