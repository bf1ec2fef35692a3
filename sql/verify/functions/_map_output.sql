-- Verify qwf:functions/_map_output

begin;

select 'qwf._map_output(bigint)'::regprocedure;

rollback;
