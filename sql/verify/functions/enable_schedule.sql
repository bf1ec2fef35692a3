-- Verify qwf:functions/enable_schedule

begin;

select 'qwf.enable_schedule(text, boolean)'::regprocedure;

rollback;
