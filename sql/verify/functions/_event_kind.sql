-- Verify qwf:functions/_event_kind

begin;

select 'qwf._event_kind(qwf.job_status)'::regprocedure;

rollback;
