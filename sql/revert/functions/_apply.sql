-- Revert qwf:functions/_apply

begin;

drop function qwf._apply(qwf.event[]);

commit;
