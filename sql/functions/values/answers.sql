-- Answers checked against their question, and signals that complete a step. Callers hold the
-- lock of the run.

-- Returns what is wrong with an answer, by the widget of the question. Never raises. An unknown
-- widget takes any value. A list of options and a schema apply to every widget. An option that
-- is an object may be chosen whole, or by its value or id; a question without options takes
-- null.
create function _qwf.answer_problems(p_spec jsonb, p_value jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offered jsonb := _qwf.offered(p_spec);
  v_widget text := case when v_offered is null then p_spec ->> 'widget' else 'choose_one' end;
  v_type text := jsonb_typeof(p_value);
  v_schema jsonb := coalesce(p_spec -> 'schema', '{}');
  v_choices jsonb;
  v_hint text;
begin
  case v_widget
    when 'choose_one' then
      if p_spec ->> 'widget' = 'on_failure' and v_offered ? 'has_run'
        and jsonb_typeof(p_value -> 'has_run') = 'object'
        and p_value = jsonb_build_object('has_run', p_value -> 'has_run') then return; end if;
      select coalesce(jsonb_agg(c.choice), '[null]')
      into v_choices
      from jsonb_array_elements(v_offered) o
      cross join lateral (values (o.value), (o.value -> 'value'), (o.value -> 'id')) c (choice)
      where c.choice is not null;
      v_hint := case when v_offered = '[]'
        then 'there is nothing to choose from: answer '
          || case when (p_spec -> 'multiple') = 'true' then '[]' else 'null' end
        else left('options: ' || v_choices::text, 500) end;
      if (p_spec -> 'multiple') = 'true' then
        v_schema := v_schema || jsonb_build_object('type', 'array');
        return query
        select f.* from _qwf.first_problems(array(
          select (format('value[%s]', e.n - 1), 'is not one of the options', v_hint)::_qwf.problem
          from jsonb_array_elements(case when v_type = 'array' then p_value else '[]' end)
            with ordinality e (value, n)
          where e.value not in (select c.value from jsonb_array_elements(v_choices) c)
          limit 21), 'value') f;
      elsif p_value not in (select c.value from jsonb_array_elements(v_choices) c) then
        return next ('value', 'is not one of the options', v_hint)::_qwf.problem;
      end if;
    when 'confirm' then
      v_schema := v_schema || '{"type": "boolean"}';
    when 'text' then
      v_schema := v_schema || '{"type": "string"}' || jsonb_strip_nulls(jsonb_build_object(
        'minLength', p_spec -> 'min_length', 'maxLength', p_spec -> 'max_length',
        'pattern', p_spec -> 'pattern'));
    when 'number' then
      v_schema := v_schema || jsonb_build_object('type',
        case when (p_spec -> 'integer') = 'true' then 'integer' else 'number' end)
        || jsonb_strip_nulls(jsonb_build_object(
        'minimum', p_spec -> 'min', 'maximum', p_spec -> 'max'));
      -- Exact, as the numbers are decimal; one of more than 1000 digits is on no step.
      if (case when v_type <> 'number' or not p_spec ? 'step' then false
        when abs(p_value::numeric) >= 1e1000 then true
        else (p_value::numeric - coalesce((p_spec -> 'min')::numeric, 0))
          % (p_spec -> 'step')::numeric <> 0 end)
      then
        return next ('value', format('must be %s plus a multiple of %s',
          coalesce(p_spec ->> 'min', '0'), p_spec ->> 'step'), null)::_qwf.problem;
      end if;
    when 'file' then
      v_schema := v_schema || case when (p_spec -> 'multiple') = 'true'
        then '{"type": "array", "items": {"type": "string", "minLength": 1}}'::jsonb
        else '{"type": "string", "minLength": 1}' end;
    else
      null;
  end case;
  return query select * from _qwf.schema_problems(p_value, v_schema, 'value');
end $$;

-- Returns the list of what may be chosen in a question; null if any answer may be given.
create function _qwf.offered(p_spec jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when jsonb_typeof(p_spec -> 'options') = 'array' then p_spec -> 'options'
    when coalesce(p_spec ->> 'widget', '') not in ('choose_one', 'turnout', 'on_failure') then null
    when jsonb_typeof(p_spec -> 'source') = 'array' then p_spec -> 'source'
    else '[]' end
$$;

-- Returns a valid answer as it is recorded: the whole option, also if the answer names it by its
-- value or id. The same choice gives the same answer, however it is made: by its name, by its
-- number or on the page.
create function _qwf.chosen(p_spec jsonb, p_value jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offered jsonb := _qwf.offered(p_spec);
begin
  if jsonb_typeof(p_value) = 'array' and (p_spec -> 'multiple') = 'true' then
    return (
      select coalesce(jsonb_agg(_qwf.chosen(p_spec - 'multiple', e.value) order by e.n), '[]')
      from jsonb_array_elements(p_value) with ordinality e (value, n));
  end if;
  return coalesce(
    (
      select o.value
      from jsonb_array_elements(v_offered) with ordinality o (value, n)
      where p_value in (o.value, o.value -> 'value', o.value -> 'id')
      order by o.value <> p_value, o.n
      limit 1
    ), p_value);
end $$;

-- Replaces the signal of a resolved question by the name that it spells: a text, or the parts of
-- a list, joined by colons. Different lists spell different names: in a part, : and \ get a \
-- before them. A number spells the same however it is written. Never raises: a part that is not
-- a text or a number, and a name that is too long, is the error of the node.
create function _qwf.named_signal(p_asked _qwf.resolution) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_signal jsonb := p_asked.value -> 'signal';
  v_parts jsonb := case jsonb_typeof(v_signal) when 'array' then v_signal
    else jsonb_build_array(v_signal) end;
  v_name text;
  v_wrong text;
begin
  if v_signal is null then
    return p_asked;
  end if;
  select string_agg(case
        when jsonb_typeof(p.value) = 'number' then trim_scale(p.value::numeric)::text
        when jsonb_typeof(v_signal) = 'array'
          then regexp_replace(p.value #>> '{}', e'[:\\\\]', e'\\\\\\&', 'g')
        else p.value #>> '{}' end, ':' order by p.n),
    min(left(p.value::text, 200)) filter (where jsonb_typeof(p.value) not in ('string', 'number'))
    into v_name, v_wrong
  from jsonb_array_elements(v_parts) with ordinality p (value, n);
  if v_wrong is not null then
    return (null, format('invalid signal: a part is %s, not a text or a number', v_wrong)
      )::_qwf.resolution;
  elsif not _qwf.is_readable_name(v_name) then
    return (null, 'invalid signal: the name must have 1 to 255 bytes that people can read'
    )::_qwf.resolution;
  end if;
  return (p_asked.value || jsonb_build_object('signal', v_name), null)::_qwf.resolution;
end $$;

-- Answers an input step that has just begun to wait with the newest kept signal of its name that
-- fits; returns whether there is one. Waits for nobody. A signal that has not committed is not
-- seen: its producer looks for this step, and if it does not see it either, the tick does. In a
-- transaction with an older snapshot the tick looks again.
-- Locks: expects the run of the job locked by the caller.
create function _qwf.take_kept_signal(p_job bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_wait qwf.waits;
  v_fitting qwf.signals[];
  v_seen bigint[];
begin
  select w.* into v_wait from qwf.waits w where w.job_id = p_job and w.kind = 'signal';
  if not found then
    return false;
  end if;
  with kept as materialized (
    select s as signal from qwf.signals s
    where s.project = v_wait.project and s.name = v_wait.name and s.keep_until > qwf.now()
    order by s.id desc
  )  -- one statement, so that no signal is seen that was not asked
  select
    array(select k.signal from kept k, qwf.jobs j
      where j.id = p_job
        and not exists (select from _qwf.answer_problems(j.input_spec, (k.signal).payload))
      limit 1),
    array(select (k.signal).id from kept k)
    into v_fitting, v_seen;
  if v_fitting <> '{}' then
    perform _qwf.complete_with_signal(array[p_job], v_fitting[1]);
    return true;
  end if;
  update qwf.waits w set refused = case
    when current_setting('transaction_isolation') <> 'read committed' then -1 || v_seen
    else v_seen end
  where w.job_id = p_job and w.kind = 'signal';
  return false;
end $$;

-- Completes input steps with a signal that fits their questions. The answer names who has sent
-- the signal, also if a tick gives it. Leaves the consequences for the run to the caller.
-- Locks: expects the runs of the jobs locked by the caller.
create function _qwf.complete_with_signal(p_jobs bigint[], p_signal qwf.signals) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  delete from qwf.waits w where w.job_id = any (p_jobs);
  with done as (
    update qwf.jobs j set
      status = 'completed', finished_at = v_now, expires_at = null,
      output = jsonb_build_object(coalesce(j.input_spec ->> 'target', 'value'),
        _qwf.chosen(j.input_spec, p_signal.payload))
    where j.id = any (p_jobs)
    returning j.id, j.run_id, j.node_id, j.output
  ), answer as (
    insert into qwf.input_answers (
      job_id, run_id, node_id, value, answered_at, login, acting_for)
    select d.id, d.run_id, d.node_id, v.value, v_now, p_signal.login, p_signal.acting_for
    from done d cross join lateral jsonb_each(d.output) v
    order by d.id
    returning id, job_id, run_id
  )
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select v_now, a.run_id, a.job_id, 'question_answered', jsonb_build_object(
    'answer_id', a.id, 'job', 'answered', 'signal', p_signal.name)
  from answer a;
end $$;
