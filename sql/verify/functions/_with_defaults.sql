-- Verify qwf:functions/_with_defaults

begin;

select 'qwf._with_defaults(jsonb, jsonb)'::regprocedure;

rollback;
