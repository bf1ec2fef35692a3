-- Revert qwf:functions/_raise_unknown_workflow

begin;

drop function qwf._raise_unknown_workflow(text);

commit;
