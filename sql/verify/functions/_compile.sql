-- Verify qwf:functions/_compile

begin;

select 'qwf._compile(jsonb, jsonb)'::regprocedure;

rollback;
