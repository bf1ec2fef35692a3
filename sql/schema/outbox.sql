-- Deploy qwf:schema/outbox
-- Consequences still to be applied to a run, each written in the transaction of the change that
-- caused it.

begin;

create table qwf.outbox (
  id bigint generated always as identity primary key,
  run_id bigint not null,
  job_id bigint,
  kind text not null check (kind in (
    'completed', 'failed', 'cancelled', 'requeued', 'asked', 'ready', 'stop')),
  tries int not null default 0,
  next_try_at timestamptz,
  error text,
  poisoned_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index outbox_run on qwf.outbox (run_id, id);
create index outbox_due on qwf.outbox (id) where poisoned_at is null;

comment on table qwf.outbox is
  'Events that drain_outbox() still has to apply to runs; deleted when applied.';
comment on column qwf.outbox.id is 'Grows in order of writing.';
comment on column qwf.outbox.run_id is 'Run to apply it to.';
comment on column qwf.outbox.job_id is 'Node it is about; null for stop.';
comment on column qwf.outbox.kind is
  'completed, failed, cancelled: how the node ended. requeued: it is queued again. asked: it waits '
  'for a person. ready: open it. stop: cancel the remaining nodes.';
comment on column qwf.outbox.tries is 'How often applying it failed.';
comment on column qwf.outbox.next_try_at is 'Not tried before this time; null: at once.';
comment on column qwf.outbox.error is 'Why the last try failed.';
comment on column qwf.outbox.poisoned_at is 'When it was given up; its run failed with the reason.';
comment on column qwf.outbox.created_at is 'When it was written.';

commit;
