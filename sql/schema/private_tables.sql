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

create table _qwf.secret (
  single boolean primary key default true check (single),
  key text not null default gen_random_uuid()::text || gen_random_uuid()::text
);
comment on table _qwf.secret is
  'Key with which sessions sign their hints, so that nobody else can write one (see _read_hints).';
comment on column _qwf.secret.single is 'Always true: there is one row.';
comment on column _qwf.secret.key is 'Drawn when the schema is deployed; 244 random bits.';
insert into _qwf.secret default values;

commit;
