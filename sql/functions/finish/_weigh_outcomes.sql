-- Deploy qwf:functions/finish/_weigh_outcomes
-- Purpose: Changes the outcome of the few reports about which the earlier attempts of the job
--   decide. The failure of a job whose arguments the body does not know is a release, if the
--   producer had compared them with the function: the worker runs older code. A release that waits
--   and gives no reason has the reason later; after 1000 such attempts in a row the next is a
--   tempfail. Of a crash, the task is noted.
-- Guarantees: A job with newer arguments waits 15 s, and no budget is counted. An hour after the
--   first such release it fails after all; another outcome in between begins a new hour. The first
--   release writes an event. Reads nothing but p_reports unless one of them is of this kind, and
--   at most 1000 attempts for one that comes later.
-- Locks: the caller has locked the jobs.
-- Called by: _end_attempts.

begin;

create function _qwf.weigh_outcomes(p_reports _qwf.report[], p_now timestamptz)
returns _qwf.report[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_report _qwf.report;
  v_job record;
  v_since timestamptz;
  v_all _qwf.report[] := '{}';
begin
  perform _qwf.note_crash(j, p_now)
  from (
    select c.* from unnest(p_reports) r join qwf.jobs c on c.id = r.job_id
    where r.outcome = 'lost' and r.detail ->> 'reason' = 'crashed'
    order by c.queue, c.task) j;
  if not exists (
    select from unnest(p_reports) r
    where r.outcome = 'fatal' and r.detail ->> 'reason' = 'arguments'
      or r.outcome = 'released' and r.detail ? 'retry_after_s') then
    return p_reports;
  end if;
  foreach v_report in array p_reports loop
    select j.run_id, j.attempt, j.claimed_by, j.checked, coalesce(w.host, j.claimed_by) as host
      into v_job
    from qwf.jobs j left join qwf.workers w on w.id = j.claimed_by
    where j.id = v_report.job_id;
    if v_report.outcome = 'released' and _qwf.as_number(v_report.detail -> 'retry_after_s') > 0
      and coalesce(v_report.detail ->> 'reason', 'later') = 'later'
    then
      v_report.detail := v_report.detail || '{"reason": "later"}';
      if v_job.attempt > 1000 and (
        select count(*) = 1000 from qwf.job_attempts a
        where a.job_id = v_report.job_id
          and a.attempt between v_job.attempt - 1000 and v_job.attempt - 1
          and a.outcome = 'released' and a.detail ->> 'reason' = 'later')
      then
        v_report.outcome := 'tempfail';
        v_report.detail := v_report.detail - 'reason';
        v_report.error := concat_ws(E'\n', v_report.error,
          'put off 1000 times in a row, so this one counts as a failure');
      end if;
    elsif v_report.outcome = 'fatal' and v_report.detail ->> 'reason' = 'arguments'
      and v_job.checked
    then
      select min(a.finished_at) into v_since
      from qwf.job_attempts a
      where a.job_id = v_report.job_id and a.detail ->> 'reason' = 'older_code'
        and a.attempt > coalesce((
          select max(b.attempt) from qwf.job_attempts b
          where b.job_id = v_report.job_id and b.outcome <> 'released'), 0);
      if v_since is null or v_since > p_now - interval '1 h' then
        v_report.outcome := 'released';
        v_report.error := format(
          '%s runs older code: %s', v_job.host, split_part(v_report.error, ';', 1));
        v_report.detail := v_report.detail || '{"reason": "older_code", "retry_after_s": 15}';
      end if;
      if v_since is null then
        insert into _qwf.event_log (at, run_id, job_id, kind, detail)
        values (p_now, v_job.run_id, v_report.job_id, 'older_code', jsonb_build_object(
          'worker', v_job.claimed_by, 'attempt', v_job.attempt,
          'error', left(v_report.error, 1000)));
      end if;
    end if;
    v_all := v_all || v_report;
  end loop;
  return v_all;
end $$;

commit;
