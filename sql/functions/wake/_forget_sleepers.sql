-- Deploy qwf:functions/wake/_forget_sleepers
-- Purpose: Clears away workers that fell asleep and never woke.
-- Guarantees: A minute is long: a sleeper says that it sleeps every few seconds.
-- Locks: rows of sleepers, those that are free.
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
  ) gone
  where s.worker = gone.worker and s.queue = gone.queue;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
