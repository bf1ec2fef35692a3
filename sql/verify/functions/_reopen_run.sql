-- Verify qwf:functions/_reopen_run

begin;

select 'qwf._reopen_run(qwf.runs)'::regprocedure;

rollback;
