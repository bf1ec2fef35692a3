-- Deploy qwf:functions/enqueue/enqueue_many
-- Purpose: Enqueues any number of standalone jobs in one statement.
-- Guarantees: All or none; ids in input order. If the key of an item is taken, in the table or by
--   an earlier item, its id is that of the job that holds the key. Keys are inserted in sorted
--   order, so two callers with the same keys cannot deadlock.
-- Notifies: sleepers of the queues, once.
-- Raises: QW001, QW005, QW006 as enqueue does, naming the item: [3].queue.
-- Called by: producers.

begin;

create function qwf.enqueue_many(jobs jsonb) returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_jobs _qwf.new_job[] := _qwf.read_jobs(enqueue_many.jobs);
  v_keyed boolean := exists (select from unnest(v_jobs) i where i.key is not null);
  v_ids bigint[];
begin
  perform _qwf.check_jobs(v_jobs);
  v_ids := case when v_keyed
    then _qwf.insert_jobs(v_jobs) else _qwf.insert_keyless(v_jobs) end;
  perform _qwf.notice_unserved(q.name)
  from (select distinct i.queue from unnest(v_jobs) i) q (name)
  cross join lateral _qwf.look_up_queue(q.name, qwf.now()) l
  where not l.served;
  return query select unnest(v_ids);
end $$;
comment on function qwf.enqueue_many is
  'Enqueues a JSON list of jobs, each an object with the arguments of enqueue, and returns their '
  'ids in order.';
call _qwf.allow('qwf.enqueue_many', 'qwf_producer');

commit;
