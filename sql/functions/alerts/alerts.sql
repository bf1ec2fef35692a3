-- Alert rules set, tried and read. Locks: the row of event_numbers, which a tick holds while it
-- matches events.

-- Sets a rule that says of which events somebody hears, or drops it. Applies to events that get
-- their numbers after this call. The alerts that are open go on under the new rule. Those that
-- it is not about, and those of a rule that is dropped, are deleted, and nothing more is sent:
-- no event would end them. A notice says how many.
-- Locks: the row of event_numbers, which a tick holds while it matches events.
-- Raises: QW001 for a rule to drop that does not exist, QW005 with everything that is wrong.
create function qwf.set_alert(name text, rule jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_old jsonb;
  v_new jsonb;
  v_gone bigint;
begin
  if coalesce(set_alert.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$', true)
    or starts_with(set_alert.name, 'qwf.') and jsonb_typeof(set_alert.rule) = 'object'
  then
    raise exception using errcode = 'QW005', message = 'invalid alert',
      detail = 'name: 1 to 100 letters, digits, dots, dashes and _, a letter first, not qwf.',
      hint = 'for example: select qwf.set_alert(''nightly'', ''{"when": ["run_ended"], '
        '"where": {"workflow": "nightly"}, "do": {"receiver": "ops"}}'')';
  end if;
  perform from _qwf.event_numbers n for no key update;
  select a.rule into v_old from qwf.alerts a where a.name = set_alert.name;
  if set_alert.rule is null or set_alert.rule = 'null' then
    if not found then
      perform _qwf.raise_no_such_alert(set_alert.name);
    end if;
    delete from qwf.alerts a where a.name = set_alert.name;
  else
    perform _qwf.check_json('rule', set_alert.rule, 65536);
    perform _qwf.raise_problems('QW005', 'invalid alert',
      array(select p from _qwf.alert_problems(set_alert.rule) p));
    v_new := _qwf.read_alert(set_alert.rule);
    insert into qwf.alerts as a (name, rule, kinds, changed_at)
    select set_alert.name, v_new,
      array(select jsonb_array_elements_text(set_alert.rule -> 'when')), qwf.now()
    on conflict (name) do update set
      rule = excluded.rule, kinds = excluded.kinds, login = excluded.login,
      acting_for = excluded.acting_for, changed_at = excluded.changed_at,
      last_error = null, last_error_at = null;
    perform _qwf.notice_no_receiver(v_new #>> '{do,receiver}');
  end if;
  with gone as (
    delete from qwf.open_alerts o
    where o.rule = set_alert.name and (v_new is null or not v_new -> 'when' ? o.kind
      or (v_old -> 'where', v_old -> 'by', v_old -> 'children')
        is distinct from (v_new -> 'where', v_new -> 'by', v_new -> 'children'))
    returning o.opened_at is not null and o.closed_at is null as was_open
  )
  select count(*) filter (where g.was_open) into v_gone from gone g;
  if v_gone > 0 then
    raise notice 'open alerts that the rule is no longer about, deleted: %', v_gone
      using hint = 'no message will say that they are over';
  end if;
  perform _qwf.record_change('alert_changed', set_alert.name, v_old, v_new);
end $$;
comment on function qwf.set_alert is
  'Sets a rule: when events of these kinds happen, somebody hears of it; null drops it. select '
  'qwf.set_alert(''nightly'', ''{"when": ["run_ended"], "where": {"workflow": "nightly"}, "do": '
  '{"receiver": "ops"}}''). A notice says how many open alerts it is no longer about: they are '
  'deleted. QW001 for a rule to drop that does not exist, QW005 for an invalid '
  'one.';
call _qwf.allow('qwf.set_alert', 'qwf_admin');

-- Raises QW001 with the rule that was probably meant.
-- Raises: QW001, always.
create function _qwf.raise_no_such_alert(p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW001', message = 'no such alert',
    detail = format('alert %L', left(p_name, 200)),
    hint = coalesce(_qwf.did_you_mean(p_name, array(select a.name from qwf.alerts a)),
      'the rules are in table qwf.alerts');
end $$;

-- Returns everything that is wrong with a rule. Paths are those of the rule, as when[0].
create function _qwf.alert_problems(p_rule jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[] := '{when,where,by,more_than,within,for,repeat,calm,send_resolved,children,do}';
  v_names text[] := '{project,workflow,node,task,queue,schedule,host,worker}';
  v_kinds text[] := array(select k.kind from _qwf.alert_kinds() k);
begin
  if jsonb_typeof(p_rule) is distinct from 'object' then
    return next ('rule', 'must be a JSON object', null)::_qwf.problem;
    return;
  end if;
  return query
    select k, 'unknown key', coalesce(_qwf.did_you_mean(k, v_keys),
      'the known keys are ' || array_to_string(v_keys, ', '))
    from jsonb_object_keys(p_rule - v_keys) k
    union all
    select 'when', 'must be a list of 1 to 20 kinds of events', null
    where jsonb_array_length(_qwf.as_list(p_rule -> 'when')) not between 1 and 20
    union all
    select format('when[%s]', w.ord - 1), format('unknown kind %s', left(w.kind::text, 100)),
      coalesce(_qwf.did_you_mean(w.kind #>> '{}', v_kinds), 'see docs/alerts.md for the kinds')
    from jsonb_array_elements(_qwf.as_list(p_rule -> 'when')) with ordinality w (kind, ord)
    where w.kind #>> '{}' <> all (v_kinds) or jsonb_typeof(w.kind) <> 'string'
    union all
    select 'where', 'must be an object', null where jsonb_typeof(p_rule -> 'where') <> 'object'
    union all
    select 'where.' || w.key, case w.key
        when 'label' then 'must be an object of labels'
        when 'status' then 'must be completed, failed or cancelled'
        else 'must be one of the names of events, with a text' end,
      coalesce(_qwf.did_you_mean(w.key, v_names || '{label,status}'),
        'the names are ' || array_to_string(v_names, ', ') || ', label, status')
    from jsonb_each(_qwf.as_object(p_rule -> 'where')) w
    where not case w.key
      when 'label' then jsonb_typeof(w.value) = 'object'
      when 'status' then w.value in ('"completed"', '"failed"', '"cancelled"')
      else w.key = any (v_names) and jsonb_typeof(w.value) = 'string' end
    union all
    select 'by', 'must be subject, run, job, event, rule, a name of events, or label.NAME', null
    where not coalesce(p_rule ->> 'by', 'subject') = any (v_names || '{subject,run,job,event,rule}')
      and p_rule ->> 'by' !~ '^label[.].{1,100}$'
    union all
    select 'more_than', 'must be a number from 0 to 1000', null
    where not case when jsonb_typeof(p_rule -> 'more_than') = 'number'
      then (p_rule -> 'more_than')::numeric between 0 and 1000 else not p_rule ? 'more_than' end
    union all
    select k, 'must be a duration such as "10 min", at most a year', null
    from unnest('{within,for,repeat,calm}'::text[]) k
    where p_rule ? k and _qwf.as_interval(p_rule -> k) is null
      and (k = 'within' or p_rule ->> k is distinct from '0')
    union all
    select k, 'must be true or false', null from unnest('{send_resolved,children}'::text[]) k
    where p_rule ? k and jsonb_typeof(p_rule -> k) <> 'boolean'
    union all
    select * from _qwf.action_problems(p_rule -> 'do');
end $$;

-- Lists the kinds of events that open an alert, and those that end it. A kind without ends is
-- over when nothing more happens for the time `within`. run_ended opens with the status that the
-- rule names; a run that completed ends one that failed.
create function _qwf.alert_kinds() returns table (kind text, ends text[])
language sql immutable
as $$
  values
    ('run_ended', '{run_ended}'::text[]), ('job_failed', '{}'),
    ('question_asked', '{question_answered,expired,cancelled}'),
    ('alert_failed', '{}'), ('lost', '{}'), ('tripped', '{}'), ('reclaimed', '{}'),
    ('poisoned', '{}'), ('expired', '{}'), ('deadline', '{}'), ('stall_suspected', '{}'),
    ('older_code', '{}'), ('folder_moved', '{}'), ('server_broken', '{server_back}'),
    ('worker_dead', '{worker_back}'), ('task_held', '{task_back}'),
    ('queue_waits', '{queue_moves}'),
    ('schedule_failed', '{schedule_ok}'), ('schedule_skipped', '{schedule_ok}'),
    ('schedule_late', '{schedule_ok}'), ('run_late', '{}'), ('job_late', '{}'), ('overdue', '{}'),
    ('ticks_missed', '{}'), ('cannot_run_anywhere', '{}'),
    ('worker_off', '{worker_on}'), ('worker_stopped', '{}'), ('host_forgotten', '{}'),
    ('cancelled', '{}'), ('retried', '{}'), ('erased', '{}'), ('events_restarted', '{}'),
    ('settings_changed', '{}'), ('queue_changed', '{}'), ('limit_changed', '{}'),
    ('schedule_changed', '{}'), ('definition_changed', '{}'), ('alert_changed', '{}'),
    ('schema_changed', '{}')
$$;

-- Returns everything that is wrong with what a rule does. A queue or workflow that does not
-- exist is a problem. Who hears of it is a name: an address is none.
create function _qwf.action_problems(p_do jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task text := p_do ->> 'task';
begin
  if jsonb_typeof(p_do) is distinct from 'object'
    or num_nonnulls(p_do ->> 'receiver', v_task, p_do ->> 'workflow') <> 1
  then
    return next ('do', 'one of receiver, task, workflow', null)::_qwf.problem;
    return;
  end if;
  return query
    select 'do.' || k, 'unknown key',
      'the known keys are receiver; task, queue, args; workflow, args'
    from jsonb_object_keys(p_do) k
    where not k = any (case when p_do ? 'receiver' then '{receiver}'
      when p_do ? 'task' then '{task,queue,args}' else '{workflow,args}' end::text[])
    union all
    select 'do.receiver', 'must be the name of a receiver: letters, digits, - and _',
      'addresses are in qwf.toml of an agent: [receiver.NAME]'
    where not _qwf.is_receiver(p_do ->> 'receiver')
    union all
    select 'do.task', '1 to 200 characters without blanks, not beginning with qwf.', null
    where v_task !~ '^[^[:space:]]{1,200}$' or starts_with(v_task, 'qwf.')
    union all
    select 'do.queue', format('there is no queue %s', left(p_do ->> 'queue', 100)), null
    where p_do ? 'queue' and (starts_with(p_do ->> 'queue', 'qwf.') or not exists (
      select from qwf.queues q where q.name = p_do ->> 'queue'))
    union all
    select 'do.workflow', format('there is no workflow %s', left(p_do ->> 'workflow', 100)), null
    where p_do ? 'workflow' and not exists (
      select from qwf.workflows w where w.name = split_part(p_do ->> 'workflow', '@', 1))
    union all
    select 'do.args', 'must be an object', null
    where jsonb_typeof(p_do -> 'args') <> 'object';
end $$;

-- Returns a rule with its defaults. Durations are in seconds. Without a status, a rule on
-- run_ended is about runs that failed. Of questions, jobs count one by one, and an answer ends
-- the alert at once.
create function _qwf.read_alert(p_rule jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule jsonb := '{"where": {}, "by": "subject", "more_than": 0, "within": "1 h", "for": "0",
    "repeat": "6 h", "calm": "10 min", "send_resolved": true, "children": false}' || p_rule;
begin
  select v_rule || jsonb_object_agg(k, coalesce(
    round(ceil(extract(epoch from _qwf.as_interval(v_rule -> k)) * 1000) / 1000, 3), 0)) into v_rule
  from unnest('{within,for,repeat,calm}'::text[]) k;
  if v_rule -> 'when' ? 'run_ended' and not v_rule -> 'where' ? 'status' then
    v_rule := jsonb_set(v_rule, '{where,status}', '"failed"');
  end if;
  return v_rule;
end $$;

-- Sends a message of state test to the receiver, task or workflow of a rule. The message goes
-- the way of all messages of the rule; it opens nothing.
-- Notifies: as the messages of the rule.
-- Raises: QW001 for an unknown rule; what the rule does may raise.
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
