-- Deploy qwf:functions/telemetry/report_event
-- Purpose: Records an event of a job that only its worker can see.
-- Guarantees: Writes nothing for a token that is not of this job; does not change the job. The
--   attempt may have ended already, as a short body ends before its worker has said this; another
--   worker may have the job by then. attempt and worker are always those of the token.
-- Called by: agents, when a watchdog saw that a silent body computes (stall_suspected), and when
--   the folder of a job held the files of another (folder_moved).

begin;

create function qwf.report_event(job_id bigint, token uuid, kind text, detail jsonb)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if coalesce(report_event.kind not in ('stall_suspected', 'folder_moved'), true) then
    raise exception using errcode = 'QW005', message = 'invalid kind',
      detail = format('kind %L', left(report_event.kind, 200)),
      hint = 'a worker reports stall_suspected and folder_moved';
  end if;
  perform _qwf.check_json('detail', report_event.detail, 16384);
  if jsonb_typeof(report_event.detail) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid detail',
      detail = coalesce(_qwf.excerpt(report_event.detail), 'null'),
      hint = 'pass a JSON object, such as {"moved_to": "/out/jobs/15.before-20261124"}';
  end if;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select qwf.now(), j.run_id, j.id, report_event.kind,
    report_event.detail || jsonb_build_object('attempt', t.attempt, 'worker', t.worker)
  from qwf.jobs j
  cross join lateral (
    select j.attempt, j.claimed_by as worker where j.token = report_event.token
    union all
    select a.attempt, a.worker from qwf.job_attempts a
    where a.job_id = j.id and a.token = report_event.token
    limit 1) t
  where j.id = report_event.job_id;
  return found;
end $$;
comment on function qwf.report_event is
  'Records an event of a job that its worker saw: stall_suspected, with the readings of a watchdog '
  'about a body that is silent and computes, or folder_moved: the folder of the job held files of '
  'another one, which were moved aside. The event gets attempt and worker, of the attempt with '
  'this token. False for a token that is not of this job. QW005 for another kind, and for a '
  'detail that is not an object, or too large.';
call _qwf.allow('qwf.report_event', 'qwf_worker');

commit;
