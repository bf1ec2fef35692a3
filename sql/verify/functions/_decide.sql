-- Verify qwf:functions/_decide

begin;

select 'qwf._decide(qwf.jobs, jsonb, text)'::regprocedure;

rollback;
