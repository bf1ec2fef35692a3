-- Revert qwf:functions/_take_events

begin;

drop function qwf._take_events(bigint[]);

commit;
