-- Verify qwf:functions/_raise_unknown_schedule

begin;

select 'qwf._raise_unknown_schedule(text)'::regprocedure;

rollback;
