-- Verify qwf:functions/finish

begin;

select 'qwf.finish(bigint, uuid, text, jsonb, text, jsonb)'::regprocedure;

rollback;
