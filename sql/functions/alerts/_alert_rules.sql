-- Deploy qwf:functions/alerts/_alert_rules
-- Purpose: Lists the rules that look at each event by itself, or those that look at groups.
-- Guarantees: A rule looks at each event if the key or the match is in the event itself, not in
--   its kind, names, subject and status.
-- Called by: _number_and_match.

begin;

create function _qwf.alert_rules(p_single boolean) returns text[]
language sql stable
as $$
  select array(
    select a.name from qwf.alerts a
    where (a.rule ->> 'by' in ('event', 'run', 'job') or starts_with(a.rule ->> 'by', 'label.')
      or a.rule -> 'where' ? 'label') = p_single
    order by a.name)
$$;

commit;
