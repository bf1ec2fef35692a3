-- Deploy qwf:functions/erase/_find_erasable
-- Purpose: Returns the jobs that erase erases: the first that pass its filter, by id, and for each
--   node all jobs of its run and of the runs inside that, and the job for which the run waited in
--   line.
-- Guarantees: Reads all jobs, however old, unless the filter has ids. Of a node, labels and key are
--   also those of its run. A job whose parts are all erased is not found again, so that a caller
--   comes to the end.
-- Raises: QW005 for an invalid filter, and for an empty one.
-- Called by: erase.

begin;

create function _qwf.find_erasable(p_filter jsonb, p_parts text[], p_max int) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_filter _qwf.job_filter;
  v_ids bigint[];
  v_labels jsonb;
  v_key text;
  v_found bigint[];
  v_runs bigint[];
begin
  if jsonb_typeof(p_filter) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = coalesce(_qwf.excerpt(p_filter), 'null'),
      hint = 'pass a JSON object such as {"label": {"person": "42"}}';
  elsif p_filter ?& '{label,labels}' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = 'label and labels are the same', hint = 'give one of them';
  elsif jsonb_typeof(p_filter -> 'ids') not in ('array', 'null')
    or p_filter -> 'ids' = '[]' or exists (
      select from jsonb_array_elements(nullif(p_filter -> 'ids', 'null')) i
      where jsonb_typeof(i) <> 'number' or i::numeric not between 1 and 9223372036854775807
        or i::numeric % 1 <> 0) then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = 'filter.ids: ' || _qwf.excerpt(p_filter -> 'ids'),
      hint = 'ids is a list of ids of jobs, such as [7, 8]';
  end if;
  if p_filter -> 'ids' <> 'null' then
    v_ids := array(select i::bigint from jsonb_array_elements(p_filter -> 'ids') i);
  end if;
  if not exists (select from jsonb_each(p_filter) f where f.value not in ('null', '{}')) then
    raise exception using errcode = 'QW005', message = 'the filter is empty',
      detail = 'it would erase every job', hint = 'give label, key or ids, or what else they share';
  end if;
  v_filter := _qwf.read_job_filter(p_filter - 'label' - 'ids' || case when p_filter ? 'label'
    then jsonb_build_object('labels', p_filter -> 'label') else '{}' end);
  v_labels := v_filter.labels;
  v_key := v_filter.key;
  v_filter.labels := null;
  v_filter.key := null;
  select array_agg(f.id), array_agg(distinct f.run_id) filter (where f.run_id is not null)
  into v_found, v_runs
  from (
    select j.id, j.run_id
    from qwf.jobs j left join qwf.runs r on r.id = j.run_id
    where (v_ids is null or j.id = any (v_ids))
      and _qwf.job_matches(j, v_filter)
      and (v_labels is null or j.labels @> v_labels or r.labels @> v_labels)
      and (v_key is null or j.key = v_key or r.key = v_key)
      and not coalesce(j.erased_parts @> p_parts, false)
    order by j.id
    limit p_max) f;
  return array(
    with recursive inside (run_id) as (
      select r.id from qwf.runs r where r.id = any (v_runs) or r.parent_id = any (v_found)
      union
      select c.id
      from inside i join qwf.jobs j on j.run_id = i.run_id join qwf.runs c on c.parent_id = j.id
    )
    select j.id from qwf.jobs j where j.id = any (v_found)
    union
    select j.id from inside i join qwf.jobs j on j.run_id = i.run_id
    union
    select j.id
    from inside i join qwf.runs r on r.id = i.run_id join qwf.jobs j on j.id = r.parent_id);
end $$;

commit;
