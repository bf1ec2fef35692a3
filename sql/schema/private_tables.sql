-- Deploy qwf:schema/private_tables
-- Tables in the private schema, which no role can read, write or lock.

begin;

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
comment on column _qwf.rests.part is 'The part, as tick() reports it.';
comment on column _qwf.rests.until is 'Until when.';
insert into _qwf.rests
select p, '-infinity' from unnest('{reclaimed,answered,woken,pruned}'::text[]) p;

commit;
