-- Verify qwf:functions/_settle_maps

begin;

select 'qwf._settle_maps(bigint[])'::regprocedure;

rollback;
