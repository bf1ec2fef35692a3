-- Deploy qwf:functions/alerts/test_alert
-- Purpose: Sends a message of state test to the receiver, task or workflow of a rule.
-- Guarantees: The message goes the way of all messages of the rule; it opens nothing.
-- Notifies: as the messages of the rule.
-- Raises: QW001 for an unknown rule; what the rule does may raise.

begin;

create function qwf.test_alert(name text) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_id bigint;
begin
  perform from qwf.alerts a where a.name = test_alert.name;
  if not found then
    perform _qwf.raise_no_such_alert(test_alert.name);
  end if;
  select coalesce(m.sent_job, m.sent_run) into v_id
  from _qwf.send_messages(array[(test_alert.name, null, 'test', 0)::_qwf.due_message]) m;
  return v_id;
end $$;
comment on function qwf.test_alert is
  'Sends a test message as the rule sends its messages, and returns the job or run that delivers '
  'it. QW001 for an unknown rule.';
call _qwf.allow('qwf.test_alert', 'qwf_admin');

commit;
