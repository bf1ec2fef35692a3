-- Deploy qwf:schema/limits
-- Named limits on how many jobs run at once. A slot is a row: a claim locks free slots with SKIP
-- LOCKED. So the slots of uncommitted claims count without counting, and nobody waits.

begin;

create table qwf.limits (
  name text primary key check (octet_length(name) between 1 and 500),
  max_running int not null check (max_running between 1 and 10000),
  created_at timestamptz not null default clock_timestamp()
);
comment on table qwf.limits is
  'A named limit on how many jobs run at once; jobs name it with limit_by. queue:NAME is the limit '
  'of a queue.';
comment on column qwf.limits.name is 'Name that jobs give in limit_by.';
comment on column qwf.limits.max_running is
  'How many jobs may run at once; 1: strictly in claim order.';
comment on column qwf.limits.created_at is 'When it was created.';

create table qwf.limit_slots (
  limit_name text not null,
  slot int not null check (slot >= 1),
  job_id bigint,
  primary key (limit_name, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
create index limit_slots_free on qwf.limit_slots (limit_name, slot) where job_id is null;
create index limit_slots_job on qwf.limit_slots (job_id) where job_id is not null;
comment on table qwf.limit_slots is 'A slot of a limit: free, or held by one running job.';
comment on column qwf.limit_slots.limit_name is 'The limit.';
comment on column qwf.limit_slots.slot is
  'Number from 1; a slot above max_running is left over from a larger limit and not handed out.';
comment on column qwf.limit_slots.job_id is 'Running job that holds the slot; null: free.';

commit;
