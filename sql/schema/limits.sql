-- Named limits with their slots, starts, holds and keys, and the turns that keys take.

-- Named limits on how many jobs run at once, and on how many start in a period. A slot is a row,
-- and so is a start: a claim locks free ones with SKIP LOCKED. So those of uncommitted claims
-- count without counting, and nobody waits.
create table qwf.limits (
  name text primary key check (octet_length(name) between 1 and 500),
  max_running int not null check (max_running between 1 and 10000),
  starts int check (starts between 1 and 10000),
  per interval check (per between '0.01 s' and '366 days'),
  keyed boolean not null default false,
  lowered_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  check ((starts is null) = (per is null)),
  check (not keyed or max_running <= 100 and coalesce(starts, 1) <= 100 and name !~ '[:]')
);
comment on table qwf.limits is
  'A named limit on how many jobs run at once, and start in a period; jobs name it with limit_by. '
  'queue:NAME is the limit of a queue.';
comment on column qwf.limits.name is 'Name that jobs give in limit_by.';
comment on column qwf.limits.max_running is
  'How many jobs may run at once; 1: strictly in claim order.';
comment on column qwf.limits.starts is
  'How many jobs may start within any period of the length per; null: any number.';
comment on column qwf.limits.per is 'Length of the period in which starts are counted.';
comment on column qwf.limits.keyed is
  'True: the numbers hold for each key, and jobs name it as NAME:KEY.';
comment on column qwf.limits.lowered_at is
  'When max_running was last lowered: jobs that ran then may be more than it; null: never.';
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

create table qwf.limit_starts (
  limit_name text not null,
  place int not null check (place >= 1),
  used_at timestamptz not null default '-infinity',
  primary key (limit_name, place)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

create index limit_starts_used on qwf.limit_starts (limit_name, used_at);
comment on table qwf.limit_starts is
  'A start that a limit with a rate allows: it may be used once in a period.';
comment on column qwf.limit_starts.limit_name is 'The limit.';
comment on column qwf.limit_starts.place is
  'Number from 1; a start above limits.starts is left over from a higher rate and not used.';
comment on column qwf.limit_starts.used_at is
  'When a job last used it: its claimed_at; -infinity: never. One period later it may be used '
  'again.';

create table qwf.limit_holds (
  name text primary key,
  until timestamptz not null,
  login text not null,
  job_id bigint
);
comment on table qwf.limit_holds is
  'Until when no job of a limit, or of a key of one, may start: see hold_limit. A tick deletes it '
  'then.';
comment on column qwf.limit_holds.name is 'The limit, or the key as jobs write it in limit_by.';
comment on column qwf.limit_holds.until is 'When its jobs may start again.';
comment on column qwf.limit_holds.login is 'Login of the session that held it.';
comment on column qwf.limit_holds.job_id is
  'Job that asked for it, as the caller says; null: it said none.';

-- No row means that nothing is known: no start of the key counts any more.
create table qwf.limit_keys (
  name text primary key,
  starts timestamptz[] not null,
  opens_at timestamptz not null,
  ends_at timestamptz not null
) with (fillfactor = 50);

create index limit_keys_opening on qwf.limit_keys (opens_at);

create index limit_keys_ending on qwf.limit_keys (ends_at);
comment on table qwf.limit_keys is
  'The last starts of a key, of a limit that counts by key and has a rate. Written under the lock '
  'of the key.';
comment on column qwf.limit_keys.name is 'The key, as jobs write it in limit_by.';
comment on column qwf.limit_keys.starts is
  'When its last jobs started, the latest first; as many as the limit allows in a period.';
comment on column qwf.limit_keys.opens_at is
  'When its next job may start; in the past: it may start now.';
comment on column qwf.limit_keys.ends_at is 'When none of these starts counts any more.';

-- Where the turns of keys are, kept in sequences: every session can read and write a sequence
-- without a row, a lock or a transaction. See _turn_owner.
create sequence _qwf.turn_owner_0 minvalue 0 start 0;
comment on sequence _qwf.turn_owner_0 is
  'Whose turns turn_place_0 keeps, and when it was last asked for: 31 bits of a hash, then the '
  'minute since 1970. The other numbers are the same for others.';

create sequence _qwf.turn_place_0 minvalue -9223372036854775808 start 0;
comment on sequence _qwf.turn_place_0 is
  'Place of the key that was served last in the line of a queue; only a hint.';

create sequence _qwf.turn_owner_1 minvalue 0 start 0;

create sequence _qwf.turn_place_1 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_2 minvalue 0 start 0;

create sequence _qwf.turn_place_2 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_3 minvalue 0 start 0;

create sequence _qwf.turn_place_3 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_4 minvalue 0 start 0;

create sequence _qwf.turn_place_4 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_5 minvalue 0 start 0;

create sequence _qwf.turn_place_5 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_6 minvalue 0 start 0;

create sequence _qwf.turn_place_6 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_7 minvalue 0 start 0;

create sequence _qwf.turn_place_7 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_8 minvalue 0 start 0;

create sequence _qwf.turn_place_8 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_9 minvalue 0 start 0;

create sequence _qwf.turn_place_9 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_10 minvalue 0 start 0;

create sequence _qwf.turn_place_10 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_11 minvalue 0 start 0;

create sequence _qwf.turn_place_11 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_12 minvalue 0 start 0;

create sequence _qwf.turn_place_12 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_13 minvalue 0 start 0;

create sequence _qwf.turn_place_13 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_14 minvalue 0 start 0;

create sequence _qwf.turn_place_14 minvalue -9223372036854775808 start 0;

create sequence _qwf.turn_owner_15 minvalue 0 start 0;

create sequence _qwf.turn_place_15 minvalue -9223372036854775808 start 0;
