-- Verify qwf:functions/_wake_overlooked

begin;

select 'qwf._wake_overlooked()'::regprocedure;

rollback;
