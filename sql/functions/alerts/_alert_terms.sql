-- Deploy qwf:functions/alerts/_alert_terms
-- Purpose: Returns rules as columns.
-- Called by: _try_rules.

begin;

create function _qwf.alert_terms(p_rules text[]) returns setof _qwf.alert_terms
language sql stable
as $$
  select a.name, a.kinds,
    array(select unnest(k.ends) from _qwf.alert_kinds() k where k.kind = any (a.kinds)),
    w.match - '{status,label}'::text[], w.match -> 'label', w.match ->> 'status', w.by, a.notify,
    (a.rule -> 'children')::boolean,
    round((a.rule -> 'more_than')::numeric)::int,
    make_interval(secs => (a.rule ->> 'within')::float),
    make_interval(secs => (a.rule ->> 'for')::float),
    make_interval(secs => (a.rule ->> 'repeat')::float),
    make_interval(secs => (a.rule ->> 'calm')::float)
  from qwf.alerts a
  cross join lateral (select a.rule -> 'where' as match, a.rule ->> 'by' as by) w
  where a.name = any (p_rules)
$$;

commit;
