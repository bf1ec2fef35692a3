-- Notes of ticks in sequences, floors of queues, and tables that only the engine reads.

-- A floor: where the queued jobs of a queue begin, while somebody holds a snapshot. Vacuum leaves
-- the claimed jobs in the index then, and each claim would pass them all. A tick finds the floor
-- (_find_floors). Claims read the last row but one of their queue, which lies before all that
-- vacuum has left of this table.
create type _qwf.band as (priority int, "position" bigint);
comment on type _qwf.band is 'Where in a priority the first queued job without a limit lay.';

-- Hints kept in sequences. Every session can read and write a sequence without a row, a lock or
-- a transaction.
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

-- Tables in the private schema, which no role but the owner can read, write or lock.
create table _qwf.locks (
  name text primary key
);
comment on table _qwf.locks is
  'One row for each task that only one session at a time may do: it locks the row. Unlike an '
  'advisory lock, which anyone who can connect may hold, only functions of the engine can lock it.';
comment on column _qwf.locks.name is
  'tick, roll_up (statistics and minutes), definitions (registering them) or schedules (creating '
  'them).';
insert into _qwf.locks values ('tick'), ('roll_up'), ('definitions'), ('schedules');

create table _qwf.hash_locks (
  number bigint primary key
);
comment on table _qwf.hash_locks is
  'Rows that claims and ticks lock to count a key of a limit, and sessions to wake a sleeper; they '
  'only try. Keys and sleepers whose hashes end alike share a row.';
comment on column _qwf.hash_locks.number is
  '0 to 16383: the last bits of limit_place; 16384 to 20479: those of the hash of a worker.';
insert into _qwf.hash_locks select generate_series(0, 20479);

create table _qwf.rests (
  part text primary key,
  until timestamptz not null
);
comment on table _qwf.rests is
  'Parts of the tick that rest, because they read much and found nothing.';
comment on column _qwf.rests.part is 'The part, as tick() reports it, or floors.';
comment on column _qwf.rests.until is 'Until when.';
insert into _qwf.rests
select p, '-infinity' from unnest('{reclaimed,answered,woken,pruned,floors}'::text[]) p;

create table _qwf.floors (
  queue text not null,
  found_at timestamptz not null,
  until timestamptz not null,
  bands _qwf.band[] not null,
  primary key (queue, found_at)
);
comment on table _qwf.floors is
  'Where claims of a queue may start in each priority, and until when; nothing lies below but jobs '
  'that were lost or released, come with run_next, or are committed late: those wait until then.';
comment on column _qwf.floors.queue is 'The queue.';
comment on column _qwf.floors.found_at is
  'When it was found. It counts a second later: what was about to commit then has committed.';
comment on column _qwf.floors.until is 'Until when it holds.';
comment on column _qwf.floors.bands is 'The first 16 priorities.';
