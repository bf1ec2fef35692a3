-- Verify qwf:functions/suspect_stall

begin;

select 'qwf.suspect_stall(bigint, uuid, jsonb)'::regprocedure;

rollback;
