-- Deploy qwf:functions/enqueue/_insert_jobs
-- Purpose: Inserts standalone jobs of which some have keys, or merges them into those that wait.
-- Guarantees: Answers in the order of the jobs, and gives them positions in that order. Inserts and
--   locks in the order of (project, task, key), one by one, so that two callers with the same keys
--   cannot deadlock.
-- Locks: as _insert_job, in that order.
-- Notifies: sleepers of the queues, once; of those of merged jobs, as _merge_waiting does.
-- Raises: QW008 as _insert_job.
-- Called by: enqueue_many.

begin;

create function _qwf.insert_jobs(p_jobs _qwf.new_job[]) returns setof qwf.enqueued
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_positions bigint[] := array(select _qwf.next_position() from unnest(p_jobs));
  v_answers qwf.enqueued[] := array_fill(null::qwf.enqueued, array[cardinality(p_jobs)]);
  v_place int;
begin
  for v_place in
    select i.ordinality from unnest(p_jobs) with ordinality i
    order by i.project, i.task, i.key, i.ordinality
  loop
    v_answers[v_place] := _qwf.insert_job(p_jobs[v_place], v_positions[v_place], v_now);
  end loop;
  perform _qwf.wake(i.queue, count(*)::int)
  from unnest(p_jobs) with ordinality i
  where (v_answers[i.ordinality]).run_at is null and not (v_answers[i.ordinality]).merged
  group by i.queue;
  return query select * from unnest(v_answers);
end $$;

commit;
