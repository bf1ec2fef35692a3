-- The table that River keeps its jobs in, with the columns, checks and indexes of its migrations 2
-- to 6: https://riverqueue.com/docs/migrations. River itself is written in Go.

create type river_job_state as enum (
  'available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running',
  'scheduled');

create function river_job_state_in_bitmask(bitmask bit(8), state river_job_state) returns boolean
language sql immutable
return get_bit(bitmask, case state
  when 'available' then 7 when 'cancelled' then 6 when 'completed' then 5 when 'discarded' then 4
  when 'pending' then 3 when 'retryable' then 2 when 'running' then 1 else 0 end) = 1;

create table river_job (
  id bigserial primary key,
  state river_job_state not null default 'available',
  attempt smallint not null default 0,
  max_attempts smallint not null,
  attempted_at timestamptz,
  created_at timestamptz not null default now(),
  finalized_at timestamptz,
  scheduled_at timestamptz not null default now(),
  priority smallint not null default 1,
  args jsonb not null,
  attempted_by text[],
  errors jsonb[],
  kind text not null,
  metadata jsonb not null default '{}',
  queue text not null default 'default',
  tags varchar(255)[] not null default '{}',
  unique_key bytea,
  unique_states bit(8),
  check ((finalized_at is not null) = (state in ('cancelled', 'completed', 'discarded'))),
  check (max_attempts > 0),
  check (priority between 1 and 4),
  check (length(queue) between 1 and 127),
  check (length(kind) between 1 and 127)
);
create index on river_job (kind);
create index on river_job (state, finalized_at) where finalized_at is not null;
create index on river_job (state, queue, priority, scheduled_at, id);
create index on river_job using gin (args);
create index on river_job using gin (metadata);
create unique index river_job_unique_idx on river_job (unique_key)
  where unique_key is not null and unique_states is not null
    and river_job_state_in_bitmask(unique_states, state);
