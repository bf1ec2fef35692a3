-- Revert qwf:functions/_absolute_paths

begin;

drop function qwf._absolute_paths(jsonb);

commit;
