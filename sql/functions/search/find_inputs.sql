-- Deploy qwf:functions/search/find_inputs
-- Purpose: Returns a page of the questions that wait for a person.
-- Guarantees: Reads no more questions than it returns, unless a project is named: then also those
--   of other projects that come before. A page goes on after the question of the page before, also
--   if that has been answered. The plan is pinned, because statistics taken when nobody was asked
--   lead to a sort of everything.

begin;

create function qwf.find_inputs(
  project text default null, ending boolean default false, after timestamptz default null,
  after_job bigint default null, max_rows int default 100)
returns setof qwf.pending_inputs
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set jit = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_after timestamptz := coalesce(find_inputs.after, '-infinity');
  v_job bigint := coalesce(find_inputs.after_job, 0);
begin
  if coalesce(find_inputs.max_rows not between 1 and 10000, true) then
    raise exception using errcode = 'QW005', message = 'invalid bound',
      detail = format('max_rows %s', find_inputs.max_rows), hint = 'give a number from 1 to 10000';
  elsif not _qwf.is_readable_time(find_inputs.after) then
    raise exception using errcode = 'QW005', message = 'invalid time',
      detail = format('after %s', find_inputs.after), hint = 'give a time of the last page';
  end if;
  if find_inputs.ending then
    return query
    select p.* from qwf.pending_inputs p
    where p.expires_at is not null and (p.expires_at, p.job_id) > (v_after, v_job)
      and (find_inputs.project is null or p.project = find_inputs.project)
    order by p.expires_at, p.job_id
    limit find_inputs.max_rows;
  else
    return query
    select p.* from qwf.pending_inputs p
    where (p.since, p.job_id) > (v_after, v_job)
      and (find_inputs.project is null or p.project = find_inputs.project)
    order by p.since, p.job_id
    limit find_inputs.max_rows;
  end if;
end $$;
comment on function qwf.find_inputs is
  'Returns the first max_rows questions of pending_inputs, of a project or of all, the oldest '
  'first; ending: only those that end by themselves, the first to end first. The next page begins '
  'after the since (ending: the expires_at) and the job_id of the last row. QW005 for an invalid '
  'bound or time.';
call _qwf.allow('qwf.find_inputs', 'qwf_viewer');

commit;
