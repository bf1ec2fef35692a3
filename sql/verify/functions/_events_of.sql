-- Verify qwf:functions/_events_of

begin;

select 'qwf._events_of(qwf.ended[])'::regprocedure;

rollback;
