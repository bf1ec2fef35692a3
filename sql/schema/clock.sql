-- Deploy qwf:schema/clock
-- A hint kept in a sequence: a register that every session reads and writes without a row, a lock
--   or a transaction.

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

commit;
