-- Deploy qwf:functions/wake/_forget_sleepers
-- Purpose: Deletes sleepers that died asleep.
-- Guarantees: Deletes rows older than a minute. A live sleeper renews its row every few seconds.
-- Locks: rows of sleepers that nobody else has locked.
-- Called by: _tick_part.

begin;

create function _qwf.forget_sleepers() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  delete from qwf.sleepers s
  using (
    select g.worker, g.queue from qwf.sleepers g
    where g.since < v_now - interval '1 min'
    limit 1000
    for update skip locked
  ) dead
  where s.worker = dead.worker and s.queue = dead.queue;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
