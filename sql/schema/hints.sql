-- Deploy qwf:schema/hints
-- Hints kept in sequences. A sequence is a register that every session can read and write without a
-- row, a lock or a transaction.

begin;

create sequence qwf.last_tick minvalue 0 start 0;
comment on sequence qwf.last_tick is
  'When a tick last finished, milliseconds since 1970; only a hint, see tick().';

create sequence qwf.caught_up minvalue 0 start 0;
comment on sequence qwf.caught_up is
  'When a tick last began that left nothing to do, milliseconds since 1970; only a hint.';

create sequence qwf.next_fold minvalue 0 start 0;
comment on sequence qwf.next_fold is
  'When figures of attempts are folded next, milliseconds since 1970; only a hint.';

create sequence qwf.prune_job minvalue 0 start 0;
comment on sequence qwf.prune_job is
  'Job up to which prune() has looked in this round; only a hint.';

create sequence qwf.metrics_sent minvalue 0 start 0;
comment on sequence qwf.metrics_sent is
  'When samples last went out on channel hw_metrics, milliseconds since 1970; only a hint.';

commit;
