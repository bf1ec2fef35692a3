-- Deploy qwf:functions/search/_job_matches
-- Purpose: True when a job passes a filter.
-- Guarantees: Reads only the first 10,000 characters of an error, and what is compared is cheap
--   first. One expression without a pinned search_path, so that the planner inlines it and drops
--   the conditions that the filter does not have. Worker ids begin with the host and a colon.
-- Called by: _find_erasable, _search_few, _search_portion.

begin;

create function _qwf.job_matches(p_job qwf.jobs, p_filter _qwf.job_filter) returns boolean
language sql stable
as $$
  select (p_filter.statuses is null or p_job.status = any (p_filter.statuses))
    and (p_filter.queue is null or p_job.queue = p_filter.queue)
    and (p_filter.task is null or p_job.task = p_filter.task)
    and (p_filter.run_id is null or p_job.run_id = p_filter.run_id)
    and (p_filter.project is null or p_job.project = p_filter.project)
    and (p_filter.key is null or p_job.key = p_filter.key)
    and (p_filter.worker is null or p_job.claimed_by = p_filter.worker)
    and (p_filter.host is null or starts_with(p_job.claimed_by, p_filter.host || ':'))
    and (p_filter.node is null or p_job.node_id = p_filter.node
      or starts_with(p_job.node_id, p_filter.node || '['))
    and (p_filter.since is null or p_job.created_at >= p_filter.since)
    and (p_filter.until is null or p_job.created_at <= p_filter.until)
    and (p_filter.labels is null or p_job.labels @> p_filter.labels)
    and (p_filter.args is null or p_job.inputs @> p_filter.args
      or p_job.resolved_inputs @> p_filter.args)
    and (p_filter.error is null or _qwf.error_contains(p_job.last_error, p_filter.error))
    and (p_filter.signature is null
      or coalesce(_qwf.error_signature(_qwf.error_line(p_job.last_error)), '')
        = p_filter.signature)
    and (p_filter.text is null or strpos(p_job.key, p_filter.text) > 0
      or strpos(coalesce(p_job.resolved_inputs, p_job.inputs)::text, p_filter.text) > 0
      or _qwf.error_contains(p_job.last_error, p_filter.text))
$$;

commit;
