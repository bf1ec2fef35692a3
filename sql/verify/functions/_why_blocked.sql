-- Verify qwf:functions/_why_blocked

begin;

select 'qwf._why_blocked(qwf.jobs)'::regprocedure;

rollback;
