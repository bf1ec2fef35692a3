-- Deploy qwf:functions/alerts/_alert_message
-- Purpose: Returns the message of an alert as its receiver gets it.
-- Guarantees: Its id is unique among all databases, and the same in each try. It has no inputs and
--   no outputs; an error is one line.
-- Called by: _send_messages.

begin;

create function _qwf.alert_message(
  p_rule qwf.alerts, p_alert qwf.open_alerts, p_state text, p_count bigint)
returns jsonb
language sql volatile
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'v', 1,
    'id', format('%s.%s.%s', left(i.id::text, 8), coalesce(p_alert.id::text, p_state),
      coalesce((p_alert.messages + 1)::text, right(gen_random_uuid()::text, 12))),
    'thread', format('%s.%s', left(i.id::text, 8), coalesce(p_alert.id::text, p_rule.name)),
    'state', p_state, 'rule', p_rule.name,
    'kind', coalesce(p_alert.kind, p_rule.kinds[1]),
    'subject', case when p_alert.id is null then p_rule.name else nullif(p_alert.subject, '') end,
    'count', p_count, 'more', case when p_alert.told > 0 then nullif(p_count - p_alert.told, 0) end,
    'opened', p_alert.opened_at, 'first', p_alert.first_at, 'last', p_alert.last_at,
    'run', p_alert.run_id, 'job', p_alert.job_id, 'names', e.names - '{alert,notify}'::text[],
    'detail', e.detail, 'asked', case when p_alert.kind = 'question_asked' then (
      select p.since from qwf.pending_inputs p where p.job_id = p_alert.job_id) end))
  from qwf.instance i
  left join _qwf.event_log e on e.seq = p_alert.last_seq
$$;

commit;
