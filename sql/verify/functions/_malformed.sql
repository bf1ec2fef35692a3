-- Verify qwf:functions/_malformed

begin;

select 'qwf._malformed(jsonb)'::regprocedure;

rollback;
