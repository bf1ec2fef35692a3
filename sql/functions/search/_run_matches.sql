-- Deploy qwf:functions/search/_run_matches
-- Purpose: True when a run passes a filter.
-- Guarantees: As _job_matches.
-- Called by: find_runs, _search_runs.

begin;

create function _qwf.run_matches(p_run qwf.runs, p_filter _qwf.run_filter) returns boolean
language sql stable
as $$
  select (p_run.depth = 0 or p_filter.children or p_filter.parent is not null)
    and (p_filter.parent is null or p_run.depth > 0 and exists (
      select from qwf.jobs j where j.id = p_run.parent_id and j.run_id = p_filter.parent))
    and (p_filter.statuses is null or p_run.status = any (p_filter.statuses))
    and (p_filter.workflow is null or p_run.workflow = p_filter.workflow)
    and (p_filter.project is null or p_run.project = p_filter.project)
    and (p_filter.key is null or p_run.key = p_filter.key)
    and (p_filter.since is null or p_run.created_at >= p_filter.since)
    and (p_filter.until is null or p_run.created_at <= p_filter.until)
    and (p_filter.labels is null or p_run.labels @> p_filter.labels)
    and (p_filter.error is null or _qwf.error_contains(p_run.error, p_filter.error))
    and (p_filter.text is null or strpos(p_run.key, p_filter.text) > 0
      or strpos(p_run.context::text, p_filter.text) > 0
      or _qwf.error_contains(p_run.error, p_filter.text))
$$;

commit;
