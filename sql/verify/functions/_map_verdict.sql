-- Verify qwf:functions/_map_verdict

begin;

select 'qwf._map_verdict(bigint)'::regprocedure;

rollback;
