-- Revert qwf:functions/_walk_limit

begin;

drop function qwf._walk_limit(text, text, qwf.workers, timestamptz, int, boolean);

commit;
