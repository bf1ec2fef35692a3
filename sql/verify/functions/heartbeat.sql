-- Verify qwf:functions/heartbeat

begin;

select 'qwf.heartbeat(text, uuid[], interval, jsonb)'::regprocedure;

rollback;
