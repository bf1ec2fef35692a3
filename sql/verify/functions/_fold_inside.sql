-- Verify qwf:functions/_fold_inside

begin;

select 'qwf._fold_inside(jsonb, jsonb)'::regprocedure;

rollback;
