-- Verify qwf:functions/_fold_path

begin;

select 'qwf._fold_path(jsonb, jsonb)'::regprocedure;

rollback;
