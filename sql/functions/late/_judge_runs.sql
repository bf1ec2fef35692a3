-- Deploy qwf:functions/late/_judge_runs
-- Purpose: Marks open runs that have not started in time, or that run for longer than expected or
--   usual, and tells it.
-- Guarantees: Once for each try of a run: retry_run clears the mark. Looks at 5,000 open runs from
--   p_floor on, and begins again after the last. The time that a run waits for answers does not
--   count. A run that ends at the same moment is not late: its row is read again when it is locked,
--   and one that somebody has locked is left for the next look.
-- Locks: runs that are late, if nobody else has locked them.
-- Called by: _judge.

begin;

create function _qwf.judge_runs(p_floor bigint, p_now timestamptz, p_max int default 5000)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off  -- statistics taken when no run was open join each run with each workflow
set enable_mergejoin = off
set jit = off
as $$
declare
  v_last bigint;
  v_late jsonb;
  v_count int;
begin
  with open as materialized (
    select r.id, r.workflow, r.status, r.started_at, greatest(r.created_at, r.run_at) as due,
      r.late_at is null as unmarked
    from qwf.runs r
    where r.status in ('queued', 'running', 'awaiting_input') and r.id > p_floor
    order by r.id limit p_max
  ), expected as materialized (
    select d.workflow, u.p95, _qwf.late_after(w.expect -> 'takes', u.runs, u.p95) as after,
      date_part('epoch', _qwf.as_interval(w.expect -> 'starts_within')) as within
    from (select distinct o.workflow from open o) d
    left join lateral (
      select x.definition -> 'expect' as expect
      from qwf.workflows x where x.name = d.workflow and x.current offset 0) w on true
    left join lateral (
      select x.runs, x.p95 from qwf.usual_times x
      where x.kind = 'run' and x.name = d.workflow and x.node = '' offset 0) u on true
  ), late as (
    select o.id, jsonb_strip_nulls(case when o.status = 'running'
      then jsonb_build_object('runs_for', floor(t.ran), 'usual', e.p95, 'expected', e.after)
      else jsonb_build_object('waits_for', floor(t.waited), 'expected', e.within) end) as detail
    from open o join expected e on e.workflow = o.workflow
    cross join lateral (
      select date_part('epoch', p_now - o.started_at) as ran,
        date_part('epoch', p_now - o.due) as waited) t
    where o.unmarked and (
      o.status = 'queued' and t.waited > e.within
      or o.status = 'running' and t.ran > e.after
        and t.ran - _qwf.asked_seconds(o.id, o.started_at, p_now) > e.after)
    limit 1000
  )
  select (select o.id from open o order by o.id desc limit 1 offset 0),
    (select jsonb_object_agg(l.id, l.detail) from late l), (select count(*) from open)
    into v_last, v_late, v_count;
  update _qwf.judged g set run_floor = case when v_count = p_max then v_last else 0 end;
  with held as materialized (
    select r.id, r.workflow from qwf.runs r
    where r.id = any (array(select k::bigint from jsonb_object_keys(v_late) k))
      and r.finished_at is null and r.late_at is null
    order by r.id
    for no key update skip locked
  ), marked as (
    update qwf.runs r set late_at = p_now where r.id = any (array(select h.id from held h))
  )
  insert into _qwf.event_log (at, run_id, kind, subject, detail)
  select p_now, h.id, 'run_late', h.workflow, v_late -> h.id::text from held h;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
