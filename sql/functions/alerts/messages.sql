-- Messages of alerts sent and forgotten.

create type _qwf.due_message as (rule text, alert_id bigint, state text, count bigint);
comment on type _qwf.due_message is
  'A message to be sent: of which rule and alert (null: of none), its state, and how many it '
  'counts.';

-- Closes the alerts of rules that are over, and sends the messages that are due. What was over
-- before its first message was due sends none. At most 20 messages of a rule open or repeat
-- within an hour; then one of state storm says how many subjects are left, and they wait until
-- the hour is over. What does not fit into the next hour either, and is over, closes when the
-- storm of that hour has counted it: else each hour would tell of older things. Where no good
-- end comes, `within` counts from the first message.
-- Notifies: sleepers of the queue of the messages.
-- Raises: what the action raises.
create function _qwf.send_due(p_rules text[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_most constant int := 20;
  v_sent _qwf.due_message[];
  v_storms _qwf.due_message[];
  v_counted text[];
begin
  perform _qwf.close_due(p_rules, p_now);
  update qwf.alerts a set hour_began = p_now, hour_messages = 0, storm_at = null
  where a.name = any (p_rules)
    and (p_now between a.hour_began and a.hour_began + interval '1 h') is not true;
  v_sent := array(
    select (d.rule, d.id, d.state, d.events)::_qwf.due_message
    from (
      select o.rule, o.id, o.events, o.send_at, v_most - a.hour_messages as room,
        case when o.sent_at >= o.opened_at then 'still' else 'open' end as state,
        row_number() over (
          partition by o.rule order by coalesce(o.waits_since, o.send_at), o.id) as place
      from qwf.open_alerts o join qwf.alerts a on a.name = o.rule
      where o.due_at <= p_now and o.send_at <= p_now and o.rule = any (p_rules)) d
    where d.place <= d.room
    order by d.rule, d.place);
  perform _qwf.send_messages(v_sent);
  update qwf.open_alerts o set messages = o.messages + 1, sent_at = p_now, told = o.events,
    waits_since = null, send_at = case when a.rule ->> 'repeat' <> '0'
      then p_now + make_interval(secs => (a.rule ->> 'repeat')::float) end,
    close_at = case
      when m.state = 'still' or exists (
        select from _qwf.alert_kinds() k
        where k.kind = o.kind and k.ends <> '{}'
          and (k.kind <> 'run_ended' or a.rule #>> '{where,status}' = 'failed')) then o.close_at
      else greatest(o.close_at, p_now + make_interval(secs => (a.rule ->> 'within')::float)) end
  from unnest(v_sent) m join qwf.alerts a on a.name = m.rule
  where o.id = m.alert_id;
  with put_off as (
    update qwf.open_alerts o set send_at = a.hour_began + interval '1 h',
      waits_since = case when (o.sent_at >= o.opened_at) is not true
        then coalesce(o.waits_since, p_now) end
    from qwf.alerts a
    where a.name = o.rule and o.due_at <= p_now and o.send_at <= p_now and o.rule = any (p_rules)
    returning o.rule
  )
  select array_agg((l.rule, null, 'storm', l.number)::_qwf.due_message order by l.rule)
  into v_storms
  from (select p.rule, count(*) as number from put_off p group by p.rule) l;
  v_counted := array(
    select m.rule from _qwf.send_messages(array(
      select s from unnest(v_storms) s join qwf.alerts a on a.name = s.rule
      where a.storm_at is null order by s.rule)) m);
  update qwf.open_alerts o
  set closed_at = p_now, close_at = null, send_at = null, waits_since = null
  from qwf.alerts a where a.name = any (v_counted) and o.rule = a.name and o.closed_at is null
    and o.waits_since < a.hour_began and o.close_at <= p_now;
  update qwf.alerts a set hour_messages = a.hour_messages + s.number,
    storm_at = coalesce(a.storm_at, case when a.name = any (array(
      select m.rule from unnest(v_storms) m)) then p_now end)
  from (select r.name, count(m) as number
    from unnest(p_rules) r (name) left join unnest(v_sent) m on m.rule = r.name group by r.name) s
  where a.name = s.name;
end $$;

-- Closes the alerts of rules that are over, and says so of those of which a message went out. An
-- alert that only counted, and never opened, closes in silence. So does one that was over before
-- its first message was due, and a question; any other waits until somebody is told. There are
-- as many messages as opened: they need no bound of their own.
-- Raises: what the action raises.
create function _qwf.close_due(p_rules text[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_over _qwf.due_message[];
begin
  v_over := array(
    select (o.rule, o.id, 'resolved', o.events)::_qwf.due_message
    from qwf.open_alerts o join qwf.alerts a on a.name = o.rule
    where o.due_at <= p_now and o.close_at <= p_now and o.rule = any (p_rules)
      and o.sent_at >= o.opened_at and (a.rule -> 'send_resolved')::boolean
    order by o.rule, o.close_at, o.id);
  perform _qwf.send_messages(v_over);
  update qwf.open_alerts o set messages = o.messages + 1
  where o.id = any (array(select m.alert_id from unnest(v_over) m));
  update qwf.open_alerts o set closed_at = p_now, close_at = null, send_at = null, recent = '{}',
    waits_since = null
  where o.due_at <= p_now and o.close_at <= p_now and o.rule = any (p_rules)
    and (o.opened_at is null or o.sent_at >= o.opened_at or o.kind = 'question_asked'
      or o.waits_since is null and (o.send_at < o.close_at) is not true);
end $$;

-- Makes messages of alerts, and enqueues what delivers them: a job, or the workflow of the rule.
-- The messages and their jobs exist exactly if the events of this transaction have their
-- numbers. All jobs are inserted at once, in the order of the messages.
-- Notifies: sleepers of the queues, once.
-- Raises: QW006 if the queue of a task is gone; as enqueue_run for a workflow.
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
      jsonb_agg(case when s.act ? 'receiver' then jsonb_build_object(  -- 8 tries within a day
          'task', 'qwf.send', 'queue', 'qwf.alerts', 'max_attempts', 8, 'timeout', '5 min',
          'args', jsonb_build_object('receiver', s.act -> 'receiver', 'message', s.said),
          'requires', jsonb_build_object('receiver.' || (s.act ->> 'receiver'), 'true'),
          'backoff', '[10, 60, 300, 1800, 7200, 21600, 43200]'::jsonb,
          'labels', jsonb_build_object('qwf.alert', s.rule))
        else jsonb_build_object(
          'task', s.act -> 'task', 'queue', coalesce(s.act -> 'queue', '"default"'),
          'args', coalesce(s.act -> 'args', '{}') || jsonb_build_object('alert', s.said),
          'labels', jsonb_build_object('qwf.alert', s.rule)) end order by s.place))) as ids
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

-- Returns the message of an alert as its receiver gets it. Its id is unique among all databases,
-- and the same in each try. It has no inputs and no outputs; an error is one line.
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

-- Deletes closed alerts and messages that are older than settings.events_keep, and rules of
-- receivers that producers have named and that were told of nothing for two days.
-- Locks: as the rows are found; nobody else deletes them. Then the row of event_numbers: no tick
--   is about to tell such a receiver. While another transaction has it, no rule is deleted.
create function _qwf.prune_alerts(p_now timestamptz, p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_old timestamptz := p_now - (select s.events_keep from qwf.settings s);
  v_alerts int;
  v_messages int;
  v_rules int := 0;
begin
  delete from qwf.open_alerts o where o.id = any (array(
    select c.id from qwf.open_alerts c where c.closed_at < v_old limit p_max
    for update skip locked));
  get diagnostics v_alerts = row_count;
  delete from qwf.alert_messages m where m.id = any (array(
    select c.id from qwf.alert_messages c where c.created_at < v_old limit p_max
    for update skip locked));
  get diagnostics v_messages = row_count;
  perform from _qwf.event_numbers n for no key update skip locked;
  if found then
    delete from qwf.alerts a where a.name = any (array(
      select c.name from qwf.alerts c
      where c.notify is not null and c.hour_began < p_now - interval '2 days' and not exists (
        select from qwf.open_alerts o where o.rule = c.name and o.closed_at is null)
      limit p_max));
    get diagnostics v_rules = row_count;
  end if;
  return v_alerts + v_messages + v_rules;
end $$;
