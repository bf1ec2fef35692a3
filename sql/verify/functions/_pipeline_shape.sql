-- Verify qwf:functions/_pipeline_shape

begin;

select 'qwf._pipeline_shape(jsonb, text)'::regprocedure;

rollback;
