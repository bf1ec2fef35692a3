-- Verify qwf:functions/_fail_poisoned

begin;

select 'qwf._fail_poisoned(bigint, text)'::regprocedure;

rollback;
