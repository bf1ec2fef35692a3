-- Deploy qwf:functions/mending/_reopen_run
-- Purpose: Makes a run that was over live again, and opens its nodes that have no unsatisfied
--   dependencies. It is queued until one of them starts: what it waits is not counted as running.
-- Guarantees: The counters are recounted, under the run's lock: the reset of nodes and maps is no
--   event, so there are no changes to add up. p_ending: it will end as it did, with the same
--   error, once what runs now has ended. A deadline counts from the retry on, also what it takes
--   back first.
-- Locks: the caller has locked the run. The firings of schedules that enqueued it.
-- Raises: QW008 if another live run has taken its key meanwhile.
-- Called by: _mend_run.

begin;

create function _qwf.reopen_run(p_run qwf.runs, p_ending boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_ready _qwf.event[];
begin
  update qwf.jobs j set status = 'queued', position = _qwf.next_position(), queued_at = qwf.now()
  where j.run_id = p_run.id and j.status = 'blocked' and j.remaining_deps = 0 and not j.guarded
    and j.parent_id is null;
  perform _qwf.wake(j.queue, count(*)::int)
  from qwf.jobs j where j.run_id = p_run.id and j.status = 'queued' group by j.queue;
  v_ready := array(
    select (j.run_id, j.id, 'ready')::_qwf.event
    from qwf.jobs j
    where j.run_id = p_run.id and j.status = 'blocked' and j.remaining_deps = 0
      and j.parent_id is null);
  update qwf.runs r set
    status = 'queued', started_at = null, finished_at = null, late_at = null,
    ending = case when p_ending then r.status end, error = case when p_ending then r.error end,
    waiting_nodes = c.waiting,
    open_nodes = c.open, active_nodes = c.queued + cardinality(v_ready), failed_nodes = c.failed,
    deadline_at = case when p_run.then_retry is null and p_run.status <> 'awaiting_input'
      then qwf.now() + g.deadline
      else r.deadline_at end
  from (
    select
      count(*) filter (where j.finished_at is null) as open,
      count(*) filter (where j.status in ('queued', 'scheduled')) as queued,
      count(*) filter (where j.status = 'awaiting_input') as waiting,
      count(*) filter (where j.status = 'failed' and j.parent_id is null) as failed
    from qwf.jobs j where j.run_id = p_run.id
  ) c
  cross join qwf.graphs g
  where r.id = p_run.id and g.id = r.graph_id;
  update qwf.firings f set result = null, ended_at = null, reopened = true
  where f.run_id = p_run.id and p_run.status <> 'awaiting_input';
  perform _qwf.apply_events(v_ready);
exception
  when unique_violation then
    raise exception using errcode = 'QW008', message = 'the key of the run is taken',
      detail = format('key %L of workflow %s in project %L',
        p_run.key, p_run.workflow, p_run.project),
      hint = 'another run with this key is live: wait for it or cancel it, then retry';
end $$;

commit;
