-- Deploy qwf:functions/finish/after_failures
-- Purpose: Says what happened next to jobs of which an attempt has failed.
-- Guarantees: One row for each argument whose job exists, in their order. tries counts what the
--   outcome counts: losses for lost, else failures; max_tries is null for fatal, which nothing
--   retries. Once a later attempt has started, the row says queued, and tries and max_tries are
--   null: the counts may be those of the later attempt.
-- Called by: agents, for their log.

begin;

create function qwf.after_failures(jobs bigint[], attempts int[], outcomes text[])
returns table (
  job_id bigint, attempt int, status text, retry_s double precision, tries int, max_tries int
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select j.id, f.attempt,
    case when j.attempt = f.attempt then j.status::text else 'queued' end,
    case when j.attempt = f.attempt and j.status = 'scheduled'
      then greatest(0, extract(epoch from j.run_at - qwf.now())) end,
    case when j.attempt <> f.attempt then null when f.outcome = 'lost' then j.losses
      else j.failures end,
    case
      when j.attempt <> f.attempt then null
      when f.outcome = 'lost' then coalesce((j.options).max_losses, s.max_losses)
      when f.outcome = 'tempfail' then coalesce((j.options).max_attempts, s.transient_attempts)
      when f.outcome = 'error' then coalesce((j.options).max_attempts, s.error_attempts)
    end
  from unnest(after_failures.jobs, after_failures.attempts, after_failures.outcomes)
    with ordinality f (job_id, attempt, outcome, place)
  join qwf.jobs j on j.id = f.job_id
  cross join qwf.settings s
  order by f.place
$$;
comment on function qwf.after_failures is
  'For jobs of which an attempt has failed, with the numbers and outcomes of these attempts: what '
  'status followed, in how many seconds the job runs again, and how many of how many tries it has '
  'had (null once a later attempt has started).';
call _qwf.allow('qwf.after_failures', 'qwf_worker');

commit;
