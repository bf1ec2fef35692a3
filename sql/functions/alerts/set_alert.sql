-- Deploy qwf:functions/alerts/set_alert
-- Purpose: Sets a rule that says of which events somebody hears, or drops it.
-- Guarantees: Applies to events that get their numbers after this call. The alerts that are open go
--   on under the new rule. Those that it is not about, and those of a rule that is dropped, are
--   deleted, and nothing more is sent: no event would end them. A notice says how many.
-- Locks: the row of event_numbers, which a tick holds while it matches events.
-- Raises: QW001 for a rule to drop that does not exist, QW005 with everything that is wrong.

begin;

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

commit;
