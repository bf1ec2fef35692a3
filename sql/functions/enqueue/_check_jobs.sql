-- Deploy qwf:functions/enqueue/_check_jobs
-- Purpose: Refuses a list of standalone jobs if one of them could not run.
-- Guarantees: One statement looks at all jobs; only those that may be refused are looked at
--   one by one.
-- Raises: QW001, QW005, QW006, naming the item.
-- Called by: enqueue_many.

begin;

create function _qwf.check_jobs(p_jobs _qwf.new_job[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_bytes int := (select s.max_value_bytes from qwf.settings s);
begin
  perform _qwf.raise_unknown_queue(unknown.queue, format('[%s].', unknown.ord))
  from (
    select i.queue, i.ord from unnest(p_jobs) i
    where not exists (select from qwf.queues q where q.name = i.queue)
    order by i.ord
    limit 1
  ) unknown;
  perform _qwf.check_job(special.job, format('[%s].', (special.job).ord), v_max_bytes)
  from (
    select i as job from unnest(p_jobs) i
    where _qwf.job_problem(i) is not null or i.limit_by is not null
      or not _qwf.is_small_job(i, v_max_bytes)
    order by i.ord
  ) special;
end $$;

commit;
