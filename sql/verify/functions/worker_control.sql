-- Verify qwf:functions/worker_control

begin;

select 'qwf.worker_control(text, text, text, text, text, text, timestamptz)'::regprocedure;

rollback;
