-- Deploy qwf:functions/alerts/_try_rules
-- Purpose: Applies rules to new events, or, without groups of events, sends what is due of them.
-- Guarantees: All rules at once. If one raises, all is undone and each half of them is tried
--   again, down to the one that raises: its error is written to it, told if it is another than
--   the last one, and stops nobody. What could not be sent is tried again after a minute, and
--   stays open until then. An error that passes (a deadlock) undoes all of the tick's part, which
--   comes again.
-- Called by: _number_and_match.

begin;

create function _qwf.try_rules(
  p_rules text[], p_groups _qwf.event_group[] default null, p_from bigint default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_many int := cardinality(p_rules);
  v_detail text;
  v_error text;
begin
  if p_groups is null then
    perform _qwf.send_due(p_rules, v_now);
    return;
  end if;
  perform _qwf.apply_changes(array(select t from _qwf.alert_terms(p_rules) t), p_groups, v_now);
  perform _qwf.end_questions(p_rules, p_from, v_now);
exception
  when others then
    if _qwf.is_passing_error(sqlstate) then
      raise;
    elsif v_many > 1 then
      perform _qwf.try_rules(p_rules[:v_many / 2], p_groups, p_from);
      perform _qwf.try_rules(p_rules[v_many / 2 + 1:], p_groups, p_from);
      return;
    end if;
    get stacked diagnostics v_detail = pg_exception_detail;
    v_error := left(concat_ws(': ', sqlstate, sqlerrm, nullif(v_detail, '')), 2000);
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select v_now, 'alert_failed', a.name, jsonb_build_object('alert', a.name),
      jsonb_build_object('error', left(v_error, 500))
    from qwf.alerts a where a.name = p_rules[1] and a.last_error is distinct from v_error;
    update qwf.alerts a set last_error = v_error, last_error_at = v_now where a.name = p_rules[1];
    update qwf.open_alerts o set
      waits_since = case when o.send_at <= v_now and (o.sent_at >= o.opened_at) is not true
        then coalesce(o.waits_since, v_now) else o.waits_since end,
      send_at = case when o.send_at <= v_now then v_now + interval '1 min' else o.send_at end,
      close_at = case when o.close_at <= v_now then v_now + interval '1 min' else o.close_at end
    where p_groups is null and o.rule = p_rules[1] and o.due_at <= v_now;
end $$;

commit;
