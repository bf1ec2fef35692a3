-- Verify qwf:functions/_check_limits

begin;

select 'qwf._check_limits(bigint)'::regprocedure;

rollback;
