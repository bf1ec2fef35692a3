-- Revert qwf:functions/_dispatch

begin;

drop function qwf._dispatch(qwf.event[]);

commit;
