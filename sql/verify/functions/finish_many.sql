-- Verify qwf:functions/finish_many

begin;

select 'qwf.finish_many(jsonb)'::regprocedure;

rollback;
