-- Verify qwf:functions/_list

begin;

select 'qwf._list(jsonb)'::regprocedure;

rollback;
