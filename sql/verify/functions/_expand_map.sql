-- Verify qwf:functions/_expand_map

begin;

select 'qwf._expand_map(bigint, jsonb, jsonb)'::regprocedure;

rollback;
