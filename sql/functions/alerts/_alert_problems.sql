-- Deploy qwf:functions/alerts/_alert_problems
-- Purpose: Returns everything that is wrong with a rule.
-- Guarantees: Paths are those of the rule, as when[0].
-- Called by: set_alert.

begin;

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

commit;
