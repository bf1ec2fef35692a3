-- Deploy qwf:schema/waits
-- Questions and deadlines of jobs, and the signals they wait for. Only jobs that ask or that may
-- expire have a row, so that an ordinary job pays for no index of them (docs/adr/0041). A row is
-- written and deleted in the transaction that changes its job, by who holds the lock of the job or
-- of its run.

begin;

create table qwf.waits (
  job_id bigint,
  kind text check (kind in ('question', 'deadline', 'signal')),
  since timestamptz,
  at timestamptz,
  project text,
  name text,
  refused bigint[],
  primary key (job_id, kind)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index waits_at on qwf.waits (kind, at) where at is not null;
-- The oldest question, and the one that ends first: since and expires_at of pending_inputs.
create index waits_since on qwf.waits (since, job_id) where kind = 'question';
create index waits_ending on qwf.waits (
    (date_trunc('second', at at time zone 'UTC') at time zone 'UTC'), job_id)
  where kind = 'question';
create index waits_signal on qwf.waits (project, name, job_id) where kind = 'signal';
create index waits_late on qwf.waits (job_id)
  where kind = 'signal' and -1 = any (refused);

comment on table qwf.waits is
  'Questions that wait for an answer, signals that steps wait for, and deadlines by which jobs '
  'must have started.';
comment on column qwf.waits.job_id is 'The job that waits.';
comment on column qwf.waits.kind is
  'question: it asks a person. signal: it waits for one; it may ask a person, too. deadline: it '
  'expires if no worker has claimed it.';
comment on column qwf.waits.since is 'When the question was asked; null for a deadline.';
comment on column qwf.waits.at is
  'When the wait ends by itself; null: never, or with the question of the same job.';
comment on column qwf.waits.project is 'Project of the signal; else null.';
comment on column qwf.waits.name is 'Name of the signal; else null.';
comment on column qwf.waits.refused is
  'Ids of the signals of that name that did not fit the schema, newest first, at most 1000; -1: '
  'it began to wait in a transaction with an older snapshot, so the tick looks once more.';

commit;
