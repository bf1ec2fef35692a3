-- Verify qwf:functions/announce

begin;

select 'qwf.announce(text, jsonb)'::regprocedure;

rollback;
