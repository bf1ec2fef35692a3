-- Revert qwf:functions/_spread_events

begin;

drop function qwf._spread_events(bigint[]);

commit;
