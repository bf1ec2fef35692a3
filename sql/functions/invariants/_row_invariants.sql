-- Deploy qwf:functions/invariants/_row_invariants
-- Purpose: Returns violated invariants of single rows: of jobs in one state, or of all jobs and
--   runs.
-- Guarantees: They are not CHECK constraints, because every claim and finish would pay for those.
--   Without a pinned search_path, so that the planner inlines it and uses an index of that state.
-- Called by: _running_invariants, check_invariants.

begin;

create function _qwf.row_invariants(p_only qwf.job_status)
returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'budgets hold', 'job ' || j.id, format('%s failures of %s, %s losses of %s',
    j.failures, (j.options).max_attempts, j.losses, (j.options).max_losses)
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and (j.failures > (j.options).max_attempts or j.losses > (j.options).max_losses)
  union all
  select 'a token is made for its job', 'job ' || j.id, j.token::text
  from qwf.jobs j
  where (p_only is null or j.status = p_only) and _qwf.job_of_token(j.token) <> j.id
  union all
  select 'the columns of a job agree with its state', 'job ' || j.id, j.status::text
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and ((j.status = 'running') <> (j.token is not null)
      or (j.token is null) <> (j.lease_expires_at is null)
      or (j.status in ('completed', 'failed', 'cancelled', 'skipped'))
        <> (j.finished_at is not null)
      or j.begun and j.status in ('blocked', 'scheduled', 'queued')
      or case j.status
        when 'running' then num_nulls(j.claimed_by, j.started_at) > 0
        when 'queued' then num_nulls(j.position, j.queued_at, j.queue) > 0
        when 'scheduled' then j.run_at is null
        when 'blocked' then j.run_id is null
        when 'awaiting_input' then j.input_spec is null
        else false end)
  union all
  select 'the terms of a job are valid', 'job ' || j.id, format(
    'max_attempts %s, max_losses %s, timeout %s, stall_timeout %s, vram_mb %s, on_failure %s, '
    'run_if %s', (j.options).max_attempts, (j.options).max_losses, (j.options).timeout,
    (j.options).stall_timeout, j.vram_mb, j.on_failure, j.run_if)
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and (least((j.options).max_attempts, (j.options).max_losses) < 1
      or least((j.options).timeout, (j.options).stall_timeout) <= '0 s'
      or j.vram_mb < 0 or j.on_failure not in ('fail', 'continue', 'ask')
      or j.run_if not in ('all_done', 'compensates'))
  union all
  select 'the labels of an unfinished job have at most 64 KiB', 'job ' || j.id,
    format('requires %s, labels %s bytes', octet_length(j.requires::text),
      octet_length(j.labels::text))
  from qwf.jobs j
  where (p_only is null or j.status = p_only) and j.finished_at is null
    and greatest(octet_length(j.requires::text), octet_length(j.labels::text)) > 65536
  union all
  select 'a job is standalone, a node, or an element', 'job ' || j.id,
    format('run %s, graph %s, node %s, parent %s, element %s',
      j.run_id, j.graph_id, j.node_idx, j.parent_id, j.element)
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and (num_nulls(j.run_id, j.graph_id) = 1 or num_nulls(j.parent_id, j.element) = 1
      or (j.run_id is null and num_nonnulls(j.node_idx, j.parent_id) > 0)
      or (j.run_id is not null and num_nonnulls(j.node_idx, j.parent_id) <> 1))
  union all
  select 'the columns of a run agree with its state', 'run ' || r.id, r.status::text
  from qwf.runs r
  where p_only is null
    and ((r.status in ('completed', 'failed', 'cancelled')) <> (r.finished_at is not null)
      or (r.finished_at is not null and r.open_nodes > 0)
      or r.active_nodes + r.waiting_nodes > r.open_nodes)
$$;

commit;
