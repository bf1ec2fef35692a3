-- Verify qwf:functions/_choices

begin;

select 'qwf._choices(jsonb)'::regprocedure;

rollback;
