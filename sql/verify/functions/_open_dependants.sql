-- Verify qwf:functions/_open_dependants

begin;

select 'qwf._open_dependants(bigint[])'::regprocedure;

rollback;
