-- Verify qwf:functions/_reads

begin;

select 'qwf._reads(jsonb)'::regprocedure;

rollback;
