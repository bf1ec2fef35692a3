-- Deploy qwf:functions/signals/_look_for_late_waits
-- Purpose: Has the tick look again at signals for steps that began to wait in a transaction with an
--   older snapshot, which may not have seen them.
-- Guarantees: Waits for nobody. Mostly there is no such step.
-- Locks: such signals and waits that nobody has locked.
-- Called by: _match_signals.

begin;

create function _qwf.look_for_late_waits(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_late record;
  v_free bigint[];
begin
  for v_late in
    select w.job_id, w.project, w.name from qwf.waits w
    where w.kind = 'signal' and -1 = any (w.refused)
    limit 1000
    for no key update skip locked
  loop
    v_free := array(
      select f.id from qwf.signals f
      where f.project = v_late.project and f.name = v_late.name
      for no key update skip locked);
    continue when cardinality(v_free) < (
      select count(*) from qwf.signals s
      where s.project = v_late.project and s.name = v_late.name);
    update qwf.signals s set look_at = p_now, horizon = null where s.id = any (v_free);
    update qwf.waits w set refused = array_remove(w.refused, -1)
    where w.job_id = v_late.job_id and w.kind = 'signal';
  end loop;
end $$;

commit;
