-- Verify qwf:functions/_spread_events

begin;

select 'qwf._spread_events(bigint[])'::regprocedure;

rollback;
