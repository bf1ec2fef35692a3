-- Verify qwf:functions/_is_able

begin;

select 'qwf._is_able(qwf.jobs, qwf.workers)'::regprocedure;

rollback;
