-- Revert qwf:functions/_prune_events

begin;

drop function qwf._prune_events(int);

commit;
