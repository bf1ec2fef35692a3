-- Revert qwf:functions/_changes

begin;

drop function qwf._changes(qwf.event[], qwf.opened[]);

commit;
