-- Deploy qwf:functions/alerts/_add_notify_rules
-- Purpose: Adds the rule of each receiver that the producer of a job or run has named, when
--   something happens to such a job or run for the first time.
-- Guarantees: Its rule has the bounds of any rule: 20 messages in an hour, then one that says how
--   many more there are. Each event is an alert of its own.
-- Called by: _number_and_match.

begin;

create function _qwf.add_notify_rules(p_groups _qwf.event_group[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.alerts as a (name, rule, kinds, notify, changed_at)
  select 'qwf.notify.' || n.receiver,
    _qwf.read_alert(jsonb_build_object(
      'when', '["run_ended", "job_failed", "question_asked"]'::jsonb, 'by', 'event',
      'where', '{"status": "any"}'::jsonb, 'within', 1, 'repeat', '0', 'send_resolved', false,
      'do', jsonb_build_object('receiver', n.receiver))),
    '{run_ended,job_failed,question_asked}', n.receiver, qwf.now()
  from (
    select distinct g.names ->> 'notify' as receiver from unnest(p_groups) g
    where g.names ? 'notify' and g.kind in ('run_ended', 'job_failed', 'question_asked')) n
  on conflict (name) do nothing;
end $$;

commit;
