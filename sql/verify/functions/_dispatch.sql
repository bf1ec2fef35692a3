-- Verify qwf:functions/_dispatch

begin;

select 'qwf._dispatch(qwf.event[])'::regprocedure;

rollback;
