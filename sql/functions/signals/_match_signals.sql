-- Deploy qwf:functions/signals/_match_signals
-- Purpose: Answers the steps that a signal has not answered when it was sent: because there were
--   many, their runs were locked, or neither had seen the other.
-- Guarantees: Reads only signals that may have such steps, however many steps wait. A signal is
--   done with when no step is left for it, and every transaction has ended that was open when a
--   tick first saw it: each that began later sees it. While one stays open, the looks become rarer.
-- Locks: signals and waits that nobody has locked; then as _serve_signal.
-- Called by: _rest_when_idle.

begin;

create function _qwf.match_signals(p_max int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_xmin constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_signal qwf.signals;
  v_served _qwf.signal_answers;
  v_left int := p_max;
  v_count int := 0;
  v_more boolean;
  v_late record;
  v_free bigint[];
begin
  for v_late in  -- steps that began to wait with an older snapshot may not have seen a signal
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
    update qwf.signals s set look_at = v_now, horizon = null where s.id = any (v_free);
    update qwf.waits w set refused = array_remove(w.refused, -1)
    where w.job_id = v_late.job_id and w.kind = 'signal';
  end loop;
  for v_signal in
    select s.* from qwf.signals s
    where s.look_at <= v_now
    order by s.look_at
    limit p_max
    for no key update skip locked
  loop
    exit when v_left <= 0;
    v_more := false;
    if v_signal.keep_until > v_now then
      v_served := _qwf.serve_signal(v_signal, v_left);
      v_left := v_left - v_served.found;
      v_count := v_count + v_served.answered;
      v_more := exists (
        select from qwf.waits w
        where w.kind = 'signal' and w.project = v_signal.project and w.name = v_signal.name
          and v_signal.id <> all (coalesce(w.refused, '{}')));
    end if;
    update qwf.signals s set  -- a horizon above is of a server that this one was restored from
      horizon = least(s.horizon, pg_snapshot_xmax(pg_current_snapshot())),
      look_at = case
        when v_more then v_now
        when s.horizon <= v_xmin then null
        else v_now + greatest('0.5 s', least(v_now - s.sent_at, '5 min')) end
    where s.id = v_signal.id;
  end loop;
  return case when v_left <= 0 then p_max else least(v_count, 99) end;
end $$;

commit;
