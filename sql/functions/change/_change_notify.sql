-- Deploy qwf:functions/change/_change_notify
-- Purpose: Names the receiver that is told about a job; of a node, about its run. An empty name:
--   nobody is told.
-- Guarantees: Holds for events that get their numbers after it. It writes one row, however many
--   nodes the run has: events of a run ask the run first. A receiver that was named before is told
--   no more, and the event `changed` says who it was.
-- Locks: the run, or the job that is in none.
-- Raises: QW001 for an unknown job, QW002 if the job or run is over, QW005 for what cannot be the
--   name of a receiver.
-- Called by: change_job.

begin;

create function _qwf.change_notify(p_job bigint, p_receiver text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_over constant text[] := '{completed,failed,cancelled,skipped}';
  v_run bigint;
  v_status text;
  v_labels jsonb;
  v_new jsonb;
begin
  select j.run_id into v_run from qwf.jobs j where j.id = p_job;
  if not found then
    perform _qwf.raise_not_waiting(p_job);
  elsif v_run is not null then
    select r.status::text, r.labels into v_status, v_labels
    from qwf.runs r where r.id = v_run for no key update;
  else
    select j.status::text, j.labels into v_status, v_labels
    from qwf.jobs j where j.id = p_job for no key update;
  end if;
  if v_status is null then  -- deleted since it was looked up
    perform _qwf.raise_not_waiting(p_job);
  elsif v_status = any (v_over) then
    raise exception using errcode = 'QW002',
      message = case when v_run is null then 'the job is over' else 'the run is over' end,
      detail = format('%s is %s', coalesce('run ' || v_run, 'job ' || p_job), v_status),
      hint = 'nothing more happens to it that somebody could be told';
  end if;
  if v_labels -> 'qwf.notify' is not distinct from to_jsonb(nullif(p_receiver, '')) then
    return;
  end if;
  v_new := case when p_receiver = '' then v_labels - 'qwf.notify'
    else _qwf.with_notify(v_labels, p_receiver) end;
  if v_run is not null then
    update qwf.runs r set labels = v_new where r.id = v_run;
  else
    update qwf.jobs j set labels = v_new where j.id = p_job;
  end if;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (qwf.now(), v_run, case when v_run is null then p_job end, 'changed', _qwf.difference(
    jsonb_build_object('notify', v_labels -> 'qwf.notify'),
    jsonb_build_object('notify', v_new -> 'qwf.notify')));
end $$;

commit;
