-- Deploy qwf:functions/finish/_weigh_outcomes
-- Purpose: Changes the outcome of the few reports about which the earlier attempts of the job
--   decide. The failure of a job whose arguments the body does not know is a release, if the
--   producer had compared them with the function: the worker runs older code. A release that waits
--   and gives no reason has the reason later; after 1000 such attempts in a row the next is a
--   tempfail. Of a crash, the task is noted.
-- Guarantees: A job with newer arguments waits 15 s, and no budget is counted. An hour after the
--   first such release it fails after all; another outcome in between begins a new hour. The first
--   release writes an event. Reads nothing but p_held unless a report is one of these, and at most
--   1000 attempts for one that comes later.
-- Locks: the caller has locked the jobs.
-- Called by: _write_reports.

begin;

create function _qwf.weigh_outcomes(p_held _qwf.held[], p_now timestamptz)
returns _qwf.held[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_held _qwf.held;
  v_host text;
  v_since timestamptz;
  v_all _qwf.held[] := '{}';
begin
  perform _qwf.note_crash(h, p_now)
  from (select h as held from unnest(p_held) h
    where h.outcome = 'lost' and h.detail ->> 'reason' = 'crashed'
    order by h.queue, h.task) c (h);
  if not exists (
    select from unnest(p_held) h
    where h.outcome = 'fatal' and h.detail ->> 'reason' = 'arguments'
      or h.outcome = 'released' and h.detail ? 'retry_after_s') then
    return p_held;
  end if;
  foreach v_held in array p_held loop
    if v_held.outcome = 'released' and _qwf.as_number(v_held.detail -> 'retry_after_s') > 0
      and coalesce(v_held.detail ->> 'reason', 'later') = 'later'
    then
      v_held.detail := v_held.detail || '{"reason": "later"}';
      if v_held.attempt > 1000 and (
        select count(*) = 1000 from qwf.job_attempts a
        where a.job_id = v_held.id
          and a.attempt between v_held.attempt - 1000 and v_held.attempt - 1
          and a.outcome = 'released' and a.detail ->> 'reason' = 'later')
      then
        v_held.outcome := 'tempfail';
        v_held.detail := v_held.detail - 'reason';
        v_held.error := concat_ws(E'\n', v_held.error,
          'put off 1000 times in a row, so this one counts as a failure');
      end if;
    elsif v_held.outcome = 'fatal' and v_held.detail ->> 'reason' = 'arguments' and exists (
      select from qwf.jobs j where j.id = v_held.id and j.checked)
    then
      select min(a.finished_at) into v_since
      from qwf.job_attempts a
      where a.job_id = v_held.id and a.detail ->> 'reason' = 'older_code'
        and a.attempt > coalesce((
          select max(b.attempt) from qwf.job_attempts b
          where b.job_id = v_held.id and b.outcome <> 'released'), 0);
      if v_since is null or v_since > p_now - interval '1 h' then
        v_host := coalesce((select w.host from qwf.workers w where w.id = v_held.claimed_by),
          v_held.claimed_by);
        v_held.outcome := 'released';
        v_held.error := format('%s runs older code: %s', v_host, split_part(v_held.error, ';', 1));
        v_held.detail := v_held.detail || '{"reason": "older_code", "retry_after_s": 15}';
      end if;
      if v_since is null then
        insert into _qwf.event_log (at, run_id, job_id, kind, detail)
        values (p_now, v_held.run_id, v_held.id, 'older_code', jsonb_build_object(
          'worker', v_held.claimed_by, 'attempt', v_held.attempt,
          'error', left(v_held.error, 1000)));
      end if;
    end if;
    v_all := v_all || v_held;
  end loop;
  return v_all;
end $$;

commit;
