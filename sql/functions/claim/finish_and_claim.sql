-- Deploy qwf:functions/claim/finish_and_claim
-- Purpose: Takes reports about attempts that ended, and hands out the next jobs: finish_many and
--   claim in one call and one commit.
-- Guarantees: The attempts end first, so that a node that a report opens, or the slot of a limit
--   that it frees, can be handed out at once. Sleepers of the queue are woken for what the reports
--   opened or freed and this claim has not taken: an older job that it takes instead does not
--   count. First one row per report, in order, as finish_many answers; then the jobs, in the order
--   and under the rules of claim. If it raises, it has written nothing: no report is lost, because
--   the caller still has them all. The arguments of both parts are checked before anything is
--   written. After an error send the reports with finish_many and claim with claim, so that neither
--   can keep the other from its end. The same reports again are answered as by finish_many, and
--   hand out further jobs.
-- Locks: as finish_many, which may wait; then as claim, which never waits.
-- Notifies: as finish_many and claim.

begin;

create function qwf.finish_and_claim(
  reports jsonb, queue text, worker text, max_jobs int default 1, lease interval default null,
  light_only boolean default false, startable int default null)
returns setof qwf.verdict_or_job
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_began timestamptz := qwf.now();
  v_asleep boolean := (
    select true from qwf.sleepers s where s.queue = finish_and_claim.queue limit 1);
  v_wakes int;
begin
  if v_asleep then
    perform set_config('qwf.put_off',
      format('%s 0 %s', pg_current_xact_id(), finish_and_claim.queue), true);
  end if;
  return query
  select v.job_id, v.verdict, v.pending, null::uuid, null::bigint, null::text, null::text,
    null::text, null::jsonb, null::int, null::interval, null::interval, null::text, null::text,
    null::timestamptz, null::text, null::jsonb, null::boolean, null::timestamptz,
    null::boolean, null::jsonb, null::boolean, null::float8, null::boolean
  from qwf.finish_many(finish_and_claim.reports) v;
  if v_asleep then
    v_wakes := split_part(current_setting('qwf.put_off'), ' ', 2);
    perform set_config('qwf.put_off', '', true);
  end if;
  return query
  select c.job_id, null::text, null::boolean, c.token, c.run_id, c.node_id, c.task, c.queue,
    c.inputs, c.attempt, c.timeout, c.stall_timeout, c.required_model, c.out_dir,
    c.lease_expires_at, c.project, c.labels, c.light, c.created_at, c.rated, c.checkpoint,
    c.alone, c.queued_s, c.at_most_once
  from qwf.claim(
    finish_and_claim.queue, finish_and_claim.worker, finish_and_claim.max_jobs,
    finish_and_claim.lease, finish_and_claim.light_only, finish_and_claim.startable) c;
  if v_wakes > 0 then
    perform _qwf.wake(finish_and_claim.queue, v_wakes - count(*)::int)
    from qwf.jobs j
    where j.claimed_by = finish_and_claim.worker and j.status = 'running'
      and j.queue = finish_and_claim.queue and j.claimed_at >= v_began
      and (j.queued_at >= v_began or j.limit_by is not null or exists (
        select from qwf.queues q where q.name = j.queue and q.max_running is not null))
    having count(*) < v_wakes;
  end if;
end $$;
comment on function qwf.finish_and_claim is
  'Takes reports as finish_many does, then hands out jobs as claim does, in one transaction. First '
  'a row with a verdict for each report, in order; then the claimed jobs, whose verdict is null. '
  'Nodes that the reports open can be among them. An error writes nothing: then report with '
  'finish_many. QW005 for a malformed report or an invalid claim, QW006 for an unknown queue.';
call _qwf.allow('qwf.finish_and_claim', 'qwf_worker');

commit;
