-- Deploy qwf:functions/alerts/_alert_rules
-- Purpose: Lists the rules that look at each event by itself, or those that look at groups.
-- Guarantees: A rule looks at each event if the key or the match is in the event itself, not in
--   its kind, names, subject and status. Of the receivers that producers have named, it lists only
--   the rules of p_receivers: those that hear of nothing cost nothing.
-- Called by: _number_and_match.

begin;

create function _qwf.alert_rules(p_single boolean, p_receivers text[] default '{}')
returns text[]
language sql stable
as $$
  select array(
    select a.name from qwf.alerts a
    where a.notify is null and (a.rule ->> 'by' in ('event', 'run', 'job')
      or starts_with(a.rule ->> 'by', 'label.') or a.rule -> 'where' ? 'label') = p_single
    union all
    select 'qwf.notify.' || r from unnest(p_receivers) r
    order by 1)
$$;

commit;
