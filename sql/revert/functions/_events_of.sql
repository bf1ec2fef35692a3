-- Revert qwf:functions/_events_of

begin;

drop function qwf._events_of(qwf.ended[]);

commit;
