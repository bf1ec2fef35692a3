-- Deploy qwf:functions/alerts/_send_messages
-- Purpose: Makes messages of alerts, and enqueues what delivers them: a job, or the workflow of the
--   rule.
-- Guarantees: The messages and their jobs exist exactly if the events of this transaction have
--   their numbers. All jobs are inserted at once, in the order of the messages.
-- Notifies: sleepers of the queues, once.
-- Raises: QW006 if the queue of a task is gone; as enqueue_run for a workflow.
-- Called by: _close_due, _send_due, test_alert.

begin;

create function _qwf.send_messages(p_messages _qwf.due_message[])
returns setof qwf.alert_messages
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_rows qwf.alert_messages[];
begin
  if coalesce(cardinality(p_messages), 0) = 0 then
    return;
  end if;
  perform _qwf.raise_unknown_queue(a.rule #>> '{do,queue}')
  from qwf.alerts a
  where a.name = any (array(select m.rule from unnest(p_messages) m)) and a.rule -> 'do' ? 'queue'
    and not exists (select from qwf.queues q where q.name = a.rule #>> '{do,queue}');
  with said as materialized (
    select m.place, m.rule, m.state, o.id as alert_id, o.run_id, o.job_id, a.rule -> 'do' as act,
      _qwf.alert_message(a, o, m.state, m.count) as said
    from unnest(p_messages) with ordinality m (rule, alert_id, state, count, place)
    join qwf.alerts a on a.name = m.rule
    left join qwf.open_alerts o on o.id = m.alert_id
  ), inserted as materialized (
    select array_agg(s.place order by s.place) as places, _qwf.insert_keyless(_qwf.read_jobs(
      jsonb_agg(_qwf.alert_job(s.rule, s.act, s.said) order by s.place))) as ids
    from said s where not s.act ? 'workflow' having count(*) > 0
  ), delivery as materialized (
    select d.place, d.job, null::bigint as run
    from inserted i cross join lateral unnest(i.places, i.ids) d (place, job)
    union all
    select s.place, null, qwf.enqueue_run(s.act ->> 'workflow',
      coalesce(s.act -> 'args', '{}') || jsonb_build_object('alert', s.said))
    from said s where s.act ? 'workflow'
  ), sent as (
    insert into qwf.alert_messages
    select s.said ->> 'id', s.alert_id, s.rule, s.state, left(s.said ->> 'subject', 500),
      s.act ->> 'receiver', s.run_id, s.job_id, d.job, d.run, qwf.now()
    from said s join delivery d on d.place = s.place
    returning *
  )
  select array_agg(s) into v_rows from sent s;
  update qwf.runs r set labels = r.labels || jsonb_build_object('qwf.alert', m.rule)
  from unnest(v_rows) m where r.id = m.sent_run;
  update qwf.jobs j set labels = j.labels || jsonb_build_object('qwf.alert', m.rule)
  from unnest(v_rows) m where j.run_id = m.sent_run;
  return query select * from unnest(v_rows);
end $$;

commit;
