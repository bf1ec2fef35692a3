-- Verify qwf:functions/wake_channel

begin;

select 'qwf.wake_channel(text)'::regprocedure;

rollback;
