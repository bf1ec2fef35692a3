-- Deploy qwf:functions/erase/_erase_alerts
-- Purpose: Overwrites what alerts have of the erased jobs and their runs: the alerts, the messages,
--   and the arguments of the jobs that deliver them.
-- Guarantees: A message that waits for its delivery goes out without what it was about; one that an
--   agent has at this moment is out of reach. Rules, counts and times stay. An alert
--   that is named after a label is closed, in silence.
-- Locks: the alerts and messages; the jobs of the messages that do not run, by id.
-- Called by: erase.

begin;

create function _qwf.erase_alerts(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_runs bigint[] := array(
    select distinct j.run_id from qwf.jobs j where j.id = any (p_jobs) and j.run_id is not null);
  v_sent bigint[];
begin
  if not 'events' = any (p_parts) then
    return;
  end if;
  update qwf.open_alerts o set subject = '$erased', key = 'erased ' || o.id,
    closed_at = coalesce(o.closed_at, qwf.now()), send_at = null, close_at = null,
    waits_since = null
  where (o.run_id = any (v_runs) or o.job_id = any (p_jobs))
    and not exists (  -- else a name of the program
      select from qwf.alerts a
      where a.name = o.rule and not starts_with(a.rule ->> 'by', 'label.'));
  with erased as (
    update qwf.alert_messages m set subject = '$erased'
    where m.run_id = any (v_runs) or m.job_id = any (p_jobs)
    returning m.sent_job, m.sent_run
  )
  select array_agg(j.id order by j.id) into v_sent
  from erased e join qwf.jobs j on j.id = e.sent_job or j.run_id = e.sent_run;
  perform from qwf.jobs j where j.id = any (v_sent) and j.status <> 'running'
  order by j.id for no key update skip locked;
  update qwf.jobs j set
    inputs = case when j.inputs #> '{message}' is not null then jsonb_set(j.inputs, '{message}',
      j.inputs -> 'message' || p_mark || '{"detail": {}, "names": {}, "subject": "$erased"}')
      when j.inputs ? 'alert' then jsonb_set(j.inputs, '{alert}', p_mark) else j.inputs end
  where j.id = any (v_sent) and j.status <> 'running';
end $$;

commit;
