-- Revert qwf:functions/_resolve_picked

begin;

drop function qwf._resolve_picked(qwf.picked[]);

commit;
