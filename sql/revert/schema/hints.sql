-- Revert qwf:schema/hints

begin;

drop sequence qwf.last_tick;
drop sequence qwf.caught_up;
drop sequence qwf.next_fold;
drop sequence qwf.prune_job;
drop sequence qwf.metrics_sent;

commit;
