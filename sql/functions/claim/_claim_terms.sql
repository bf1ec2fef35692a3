-- Deploy qwf:functions/claim/_claim_terms
-- Purpose: Returns what a claim needs to know about its queue and its worker.
-- Guarantees: One statement. A worker that is not registered has no row: nothing is filtered.
--   Null means no.
-- Raises: QW005 for a claim without a worker, or with a bad number of jobs or lease, QW006 for an
--   unknown queue.
-- Called by: claim, finish_and_claim.

begin;

create function _qwf.claim_terms(
  p_queue text, p_worker text, p_max_jobs int, p_lease interval)
returns _qwf.claim_terms
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_terms _qwf.claim_terms;
begin
  select
    -- limit 1 and not exists: the planner might read the whole table for that, into a hash table
    q.paused or (select true from qwf.switched_off o
      where o.host = w.host and o.queue = q.name limit 1) as closed,
    q.placement = 'pack' as packed, q.max_running, coalesce(p_lease, q.lease, s.lease) as lease,
    coalesce(q.timeout, s.timeout) as timeout,
    (select true from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by is not null limit 1)
      as limited,
    (select true from qwf.sleepers z where z.queue = q.name limit 1) as asleep,
    w as worker
    into v_terms
  from qwf.queues q
  cross join qwf.settings s
  left join qwf.workers w on w.id = p_worker
  where q.name = p_queue;
  if not found then
    perform _qwf.raise_unknown_queue(p_queue);
  end if;
  if p_worker is null or octet_length(p_worker) > 500
    or p_max_jobs is null or p_max_jobs not between 1 and 1000
    or not _qwf.is_duration(v_terms.lease, '1 day', p_least => '1 s') then
    raise exception using errcode = 'QW005', message = 'invalid claim',
      detail = format(
        'worker %L, max_jobs %s, lease %s', left(p_worker, 500), p_max_jobs, v_terms.lease),
      hint = 'name the worker, and claim 1 to 1000 jobs with a lease from one second to one day';
  end if;
  return v_terms;
end $$;

commit;
