-- Deploy qwf:functions/runs/_stop_children
-- Purpose: Ends the runs of steps that stop, level by level, and returns them.
-- Guarantees: Never waits, as its caller may hold jobs. Of each level it stops runs of at most 500
--   open nodes in this call, at least one run; the others get a stop event, and so does a run that
--   somebody has locked. A run that got such an event ends here, if its step still has to stop.
-- Locks: runs (by id) that are free: a run lies above those that run for its steps.
-- Called by: _apply_events.

begin;

create function _qwf.stop_children(p_runs bigint[], p_ended bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_level bigint[] := p_runs;
  v_children bigint[];
  v_stopped bigint[] := '{}';
begin
  perform _qwf.end_run(r.id, 'cancelled', coalesce(
    'cancelled by ' || _qwf.spell_who(c.login, c.acting_for) || coalesce(': ' || c.reason, ''),
    'the run above it ended'), p_ended => p_ended)
  from qwf.runs r
  join qwf.jobs j on j.id = r.parent_id and j.attempt = r.parent_attempt
  left join qwf.cancel_requests c on c.job_id = j.id
  where r.id = any (p_runs) and r.finished_at is null and r.ending is null
    and _qwf.should_stop(j.id, j.run_id, j.run_if, j.parent_id);
  loop
    v_children := array(
      select c.id
      from qwf.jobs j join qwf.runs c on c.parent_id = j.id
      where j.run_id = any (v_level) and j.queue = 'qwf.runs' and j.status = 'running'
        and c.finished_at is null and c.ending is null
        and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
      order by c.id);
    exit when v_children = '{}';
    v_level := array(
      select r.id from qwf.runs r
      where r.id = any (array(
        select b.id
        from (
          select c.id, sum(c.open_nodes) over (order by c.id) - c.open_nodes as before
          from qwf.runs c where c.id = any (v_children)) b
        where b.before < 500))
      order by r.id
      for no key update skip locked);
    insert into qwf.outbox (run_id, kind)
    select c, 'stop' from unnest(v_children) c
    where c <> all (v_level) and not exists (
      select from qwf.outbox o
      where o.run_id = c and o.kind = 'stop' and o.poisoned_at is null);
    perform _qwf.end_run(c, 'cancelled', 'the run above it ended', p_ended => p_ended)
    from unnest(v_level) c;
    v_stopped := v_stopped || v_level;
  end loop;
  return v_stopped;
end $$;

commit;
