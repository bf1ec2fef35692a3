-- Revert qwf:schema/hints

begin;

drop sequence qwf.last_tick;
drop sequence qwf.last_complete_tick;
drop sequence qwf.last_complete_tick_xid;
drop sequence qwf.last_start_wake;
drop sequence qwf.next_start_wake;
drop sequence qwf.next_roll_up;
drop sequence qwf.last_roll_up_xid;
drop sequence qwf.prune_job;
drop sequence qwf.metrics_sent;

commit;
