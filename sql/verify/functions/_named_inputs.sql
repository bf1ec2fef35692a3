-- Verify qwf:functions/_named_inputs

begin;

select 'qwf._named_inputs(jsonb)'::regprocedure;

rollback;
