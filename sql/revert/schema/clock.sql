-- Revert qwf:schema/clock

begin;

drop sequence qwf.last_tick;
drop sequence qwf.caught_up;
drop sequence qwf.next_fold;
drop sequence qwf.prune_job;

commit;
