-- Deploy qwf:functions/alerts/_send_message
-- Purpose: Makes the message of an alert, and enqueues what delivers it: the job qwf.send for a
--   receiver, else the task or workflow of the rule.
-- Guarantees: The message and its job exist exactly if the events of this transaction have their
--   numbers. A receiver is tried 8 times within a day, by an agent that has it.
-- Notifies: sleepers of the queue.
-- Raises: QW006 if the queue of the task is gone; as enqueue_run for a workflow.
-- Called by: _close_due, _send_due, test_alert.

begin;

create function _qwf.send_message(
  p_rule qwf.alerts, p_alert qwf.open_alerts, p_state text, p_count bigint)
returns qwf.alert_messages
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_do jsonb := p_rule.rule -> 'do';
  v_receiver text := v_do ->> 'receiver';
  v_label jsonb := jsonb_build_object('qwf.alert', p_rule.name);
  v_said jsonb := _qwf.alert_message(p_rule, p_alert, p_state, p_count);
  v_args jsonb := coalesce(v_do -> 'args', '{}') || jsonb_build_object('alert', v_said);
  v_row qwf.alert_messages;
begin
  v_row := (v_said ->> 'id', p_alert.id, p_rule.name, p_state, left(v_said ->> 'subject', 500),
    v_receiver, p_alert.run_id, p_alert.job_id, null, null, qwf.now())::qwf.alert_messages;
  if v_do ? 'workflow' then
    v_row.sent_run := qwf.enqueue_run(v_do ->> 'workflow', v_args);
    update qwf.runs r set labels = r.labels || v_label where r.id = v_row.sent_run;
    update qwf.jobs j set labels = j.labels || v_label where j.run_id = v_row.sent_run;
  elsif v_receiver is not null then
    v_row.sent_job := (_qwf.insert_keyless(_qwf.read_jobs(jsonb_build_array(jsonb_build_object(
      'task', 'qwf.send', 'queue', 'qwf.alerts', 'labels', v_label, 'max_attempts', 8,
      'args', jsonb_build_object('receiver', v_receiver, 'message', v_said),
      'requires', jsonb_build_object('receiver.' || v_receiver, 'true'),
      'backoff', '[10, 60, 300, 1800, 7200, 21600, 43200]'::jsonb)))))[1];
  else
    if not exists (select from qwf.queues q where q.name = coalesce(v_do ->> 'queue', 'default'))
    then
      perform _qwf.raise_unknown_queue(v_do ->> 'queue');
    end if;
    v_row.sent_job := (_qwf.insert_keyless(_qwf.read_jobs(jsonb_build_array(jsonb_strip_nulls(
      jsonb_build_object('task', v_do -> 'task', 'queue', v_do -> 'queue', 'labels', v_label,
      'args', v_args))))))[1];
  end if;
  insert into qwf.alert_messages select v_row.*;
  return v_row;
end $$;

commit;
