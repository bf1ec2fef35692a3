-- Deploy qwf:functions/_ids_of_taken_keys
-- requires: schema/types
-- requires: functions/_job_with_key
-- requires: functions/enqueue
-- Purpose: Fills in the ids of items whose key was taken.
-- Guarantees: An item whose key was given free between two statements is enqueued after all.
-- Called by: enqueue_many.

begin;

create function qwf._ids_of_taken_keys(p_jobs qwf.new_job[], p_ids bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[] := p_ids;
  v_job qwf.new_job;
begin
  foreach v_job in array p_jobs loop
    if v_ids[v_job.ord + 1] is null then
      v_ids[v_job.ord + 1] := coalesce(
        qwf._job_with_key(v_job.project, v_job.task, v_job.key),
        qwf.enqueue(
          v_job.task, v_job.args, v_job.queue, v_job.priority, v_job.run_at, v_job.key,
          v_job.max_attempts, v_job.backoff, v_job.timeout, v_job.model, v_job.vram_mb,
          v_job.requires, v_job.limit_by, v_job.on_failure, v_job.expires, v_job.project,
          v_job.labels, v_job.once));
    end if;
  end loop;
  return v_ids;
end $$;
comment on function qwf._ids_of_taken_keys(qwf.new_job[], bigint[]) is
  'The ids, with those of the jobs that hold the keys in place of the nulls.';
revoke all on function qwf._ids_of_taken_keys(qwf.new_job[], bigint[]) from public;

commit;
