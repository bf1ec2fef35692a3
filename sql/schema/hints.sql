-- Deploy qwf:schema/hints
-- Hints kept in sequences. Every session can read and write a sequence without a row, a lock or a
-- transaction.

begin;

create sequence qwf.last_tick minvalue 0 start 0;
comment on sequence qwf.last_tick is
  'When the last tick finished, milliseconds since 1970; only a hint, see tick().';

create sequence qwf.last_complete_tick minvalue 0 start 0;
comment on sequence qwf.last_complete_tick is
  'When the last tick that left nothing to do began, milliseconds since 1970; only a hint.';

create sequence qwf.last_complete_tick_xid minvalue 0 start 0;
comment on sequence qwf.last_complete_tick_xid is
  'The transaction of that tick: the hint counts only if it has committed.';

create sequence qwf.last_start_wake minvalue 0 start 0;
comment on sequence qwf.last_start_wake is
  'When sleepers were last woken because rates of limits allowed starts again, milliseconds since '
  '1970; only a hint.';

create sequence qwf.next_start_wake minvalue 0 start 0;
comment on sequence qwf.next_start_wake is
  'When sleepers are next woken because rates of limits allow starts, milliseconds since 1970; 0: '
  'no job waits for a rate; only a hint.';

create sequence qwf.next_roll_up minvalue 0 start 0;
comment on sequence qwf.next_roll_up is
  'When statistics are rolled up next, milliseconds since 1970; only a hint.';

create sequence qwf.last_roll_up_xid minvalue 0 start 0;
comment on sequence qwf.last_roll_up_xid is
  'The transaction that has set next_roll_up: the hint counts only if it has committed.';

create sequence qwf.prune_firing minvalue 0 start 0;
comment on sequence qwf.prune_firing is
  'Id of the last firing that prune() has looked at in this round; only a hint.';

create sequence qwf.close_firing minvalue 0 start 0;
comment on sequence qwf.close_firing is
  'Id of the last open firing that a tick has looked at in this round; only a hint.';

create sequence qwf.prune_job minvalue 0 start 0;
comment on sequence qwf.prune_job is
  'Id of the last job that prune() has looked at in this round; only a hint.';

create sequence qwf.metrics_sent minvalue 0 start 0;
comment on sequence qwf.metrics_sent is
  'When samples were last sent on channel hw_metrics, milliseconds since 1970; only a hint.';

commit;
