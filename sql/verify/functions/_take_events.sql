-- Verify qwf:functions/_take_events

begin;

select 'qwf._take_events(bigint[])'::regprocedure;

rollback;
