-- Verify qwf:functions/_checked

begin;

select 'qwf._checked(jsonb, jsonb, text)'::regprocedure;

rollback;
