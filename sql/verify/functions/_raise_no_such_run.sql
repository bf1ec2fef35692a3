-- Verify qwf:functions/_raise_no_such_run

begin;

select 'qwf._raise_no_such_run(bigint)'::regprocedure;

rollback;
