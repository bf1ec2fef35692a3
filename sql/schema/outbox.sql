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
  'Dispatch events: what drain_outbox() still has to do. Deleted when applied.';
comment on column qwf.outbox.id is 'Order of writing.';
comment on column qwf.outbox.run_id is 'Run to apply it to.';
comment on column qwf.outbox.job_id is 'Node it is about; null for stop.';
comment on column qwf.outbox.kind is
  'completed, failed, cancelled: the node ended so. requeued: it went back to work. asked: it '
  'waits for a person. ready: open it. stop: cancel what is left.';
comment on column qwf.outbox.tries is 'How often applying it failed.';
comment on column qwf.outbox.next_try_at is 'Not before; null: at once.';
comment on column qwf.outbox.error is 'Why the last try failed.';
comment on column qwf.outbox.poisoned_at is 'When it was given up: its run failed with the reason.';
comment on column qwf.outbox.created_at is 'When it was written.';

commit;
