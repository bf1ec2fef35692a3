-- Nodes reset to begin again, and the results they lose. Locks: the run, which the caller has
-- locked, then the runs below it, by id.

-- Resets nodes of a run to their initial state: blocked, or skipped. The history of their
-- attempts stays; the elements of a map that runs again as a whole are deleted, as its list may
-- differ. The caller counts what the nodes wait for.
-- Locks: the caller has locked the run, which is over.
create function _qwf.reset_nodes(
  p_jobs bigint[], p_status qwf.job_status default 'blocked')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_elements bigint[] := array(select j.id from qwf.jobs j where j.parent_id = any (p_jobs));
begin
  perform _qwf.delete_runs_below(v_elements), _qwf.delete_jobs(v_elements);
  delete from qwf.cancel_requests c where c.job_id = any (p_jobs);
  delete from qwf.run_files f where f.job_id = any (p_jobs);
  delete from qwf.job_progress p where p.job_id = any (p_jobs);
  update qwf.jobs j set
    status = p_status, retries = j.retries + 1, failures = 0, losses = 0,
    output = null, resolved_inputs = null, input_spec = n.input_spec, elements = null,
    next_element = null, failed_elements = 0, run_at = null,
    started_at = case when p_status <> 'skipped' then j.started_at end,
    claimed_at = case when p_status <> 'skipped' then j.claimed_at end,
    finished_at = case when p_status = 'skipped' then qwf.now() end,
    expires_at = null, avoid_host = null, avoid_until = null, last_error = null,
    begun = case when j.begun is not null then false end
  from qwf.graph_nodes n
  where j.id = any (p_jobs) and n.graph_id = j.graph_id and n.idx = j.node_idx;
end $$;

-- Deletes the runs that ran for jobs of a run, and the runs below those: the jobs are about to
-- be deleted, and nobody would find the runs any more. Waits for nobody. A run of which a body
-- still stops, or that somebody has locked, stays until its retention has passed.
-- Locks: the caller has locked the run above; runs below it that are free, by id.
create function _qwf.delete_runs_below(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_runs bigint[];
begin
  v_runs := array(
    with recursive below (id) as (
      select r.id from qwf.runs r where r.parent_id = any (p_jobs) and r.depth > 0
      union
      select r.id
      from below b join qwf.jobs j on j.run_id = b.id join qwf.runs r on r.parent_id = j.id
    )
    select b.id from below b);
  if v_runs = '{}' then
    return;  -- the usual case
  end if;
  v_runs := array(
    select r.id from qwf.runs r
    where r.id = any (v_runs) and r.finished_at is not null
      and not exists (select from qwf.jobs j where j.run_id = r.id and j.finished_at is null)
    order by r.id
    for update skip locked);
  perform _qwf.delete_jobs(array(select j.id from qwf.jobs j where j.run_id = any (v_runs)));
  delete from qwf.outbox o where o.run_id = any (v_runs);
  delete from qwf.runs r where r.id = any (v_runs);
end $$;

-- Resumes maps with the elements that did not complete. Completed elements are kept;
-- max_parallel holds. A map with nothing left to run gets its verdict again when it is opened.
-- Locks: the caller has locked the run, which is over.
-- Notifies: sleepers of the queues that got work.
create function _qwf.resume_maps(p_maps bigint[], p_from_node text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_map record;
  v_named int;
  v_later bigint[];
begin
  for v_map in
    select m.id, n.max_parallel, n.repeat is not null as repeats
    from qwf.jobs m join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
    where m.id = any (p_maps)
    order by m.id
  loop
    v_named := (
      select j.element from qwf.jobs j where j.parent_id = v_map.id and j.node_id = p_from_node);
    if v_map.repeats and v_named is not null then  -- later turns began with what that one gave
      v_later := array(
        select j.id from qwf.jobs j where j.parent_id = v_map.id and j.element > v_named);
      perform _qwf.delete_runs_below(v_later), _qwf.delete_jobs(v_later);
      update qwf.jobs m set elements = v_named + 1 where m.id = v_map.id;
    end if;
    delete from qwf.cancel_requests c using qwf.jobs j
    where j.parent_id = v_map.id and c.job_id = j.id;
    delete from qwf.run_files f using qwf.jobs j
    where j.parent_id = v_map.id and j.node_id = p_from_node and f.job_id = j.id;
    delete from qwf.job_progress p using qwf.jobs j
    where j.parent_id = v_map.id and p.job_id = j.id
      and (j.status in ('failed', 'cancelled') or j.node_id = p_from_node);
    update qwf.jobs j set
      status = 'blocked', retries = j.retries + 1, failures = 0, losses = 0, output = null,
      input_spec = null, queued_at = null, run_at = null, finished_at = null,
      avoid_host = null, avoid_until = null,
      last_error = null, begun = case when j.begun is not null then false end
    where j.parent_id = v_map.id
      and (j.status in ('failed', 'cancelled') or j.node_id = p_from_node);
    update qwf.jobs m set
      status = 'blocked', retries = m.retries + 1, finished_at = null, last_error = null,
      output = null, failed_elements = 0, remaining_deps = e.open, next_element = e.first
    from (
      select count(*) as open, coalesce(min(j.element), 0) as first from qwf.jobs j
      where j.parent_id = v_map.id and j.status = 'blocked') e
    where m.id = v_map.id;
    perform _qwf.note_progress(m.id, 1 - m.remaining_deps::real / m.elements)
    from qwf.jobs m where m.id = v_map.id;
    perform _qwf.open_elements(v_map.id, coalesce(v_map.max_parallel, 2147483647));
  end loop;
end $$;

-- Lets the last run of a step that was named go on though a compensation node failed, of it or
-- of a run below it: who names the step wants what that node takes back to run again. Nothing
-- changes for a step without such a run. The compensation nodes are skipped again, and what they
-- take back counts as cancelled: the next attempt of the step runs it.
-- Locks: the caller has locked the run above; the runs of the steps, by id.
create function _qwf.forget_compensations(p_run bigint, p_node text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_runs bigint[];
  v_failed bigint[];
begin
  v_runs := _qwf.lock_runs(array(
    with recursive step (id) as (
      select j.id from qwf.jobs j
      where j.run_id = p_run and j.node_id = p_node and j.queue = 'qwf.runs'
      union all
      select j.id
      from step s
      cross join lateral (
        select r.id from qwf.runs r where r.parent_id = s.id order by r.id desc limit 1) l
      join qwf.jobs j on j.run_id = l.id and j.queue = 'qwf.runs'
        and j.status in ('failed', 'cancelled')
    )
    select l.id
    from step s
    cross join lateral (
      select r.id from qwf.runs r where r.parent_id = s.id order by r.id desc limit 1) l));
  v_failed := array(
    select c.job_id from qwf.compensations c
    where c.run_id = any (v_runs) and c.status in ('failed', 'cancelled'));
  if v_failed = '{}' then
    return;
  end if;
  update qwf.jobs t set status = 'cancelled', retries = t.retries + 1, output = null
  from qwf.compensations c
  where c.run_id = any (v_runs) and c.job_id = any (v_failed) and t.status = 'completed'
    and (t.id = c.takes_back_job or t.parent_id = c.takes_back_job and c.done and exists (
      select from qwf.jobs m where m.id = c.takes_back_job and m.status <> 'completed'));
  perform _qwf.reset_nodes(v_failed, 'skipped');
end $$;
