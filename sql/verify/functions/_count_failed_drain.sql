-- Verify qwf:functions/_count_failed_drain

begin;

select 'qwf._count_failed_drain(bigint, text, text)'::regprocedure;

rollback;
