-- Deploy qwf:functions/alerts/_fold_events
-- Purpose: Returns what groups of new events mean to rules: a row for each rule and key, with the
--   bad ones counted, and whether a good end came last.
-- Guarantees: Events of jobs and runs that an alert made count only for rules on alert_failed, and
--   those of such a rule's own jobs for none. One statement for all rules: each looks at a group
--   once, however many events it has. Its plan does not depend on the settings of its caller.
-- Called by: _apply_changes.

begin;

create function _qwf.fold_events(p_terms _qwf.alert_terms[], p_groups _qwf.event_group[])
returns setof _qwf.alert_change
language plpgsql stable
rows 5000
set search_path = pg_catalog, pg_temp
set enable_hashjoin = on
set enable_nestloop = off
set enable_mergejoin = off
set enable_sort = off
set work_mem = '64MB'
set jit = off
as $$
declare
  v_paired text[] := array(select k.kind from _qwf.alert_kinds() k where k.ends <> '{}');
begin
  return query
  with term as materialized (
    select * from unnest(p_terms) with ordinality t (
      rule, kinds, ends, names, label, status, by, notify, children, more_than, within, pause,
      repeat, calm, place)
  ), happened as materialized (  -- named: the place of the rule of the receiver that it names
    select g.*, n.place as named
    from unnest(p_groups) g left join term n on n.notify = g.names ->> 'notify'
  ), applied as (  -- the rules of such receivers are the same, so one stands for all
    select * from term t where t.notify is null
    union all
    (select * from term t where t.notify is not null limit 1)
  ), pair as materialized (
    select case when t.notify is null then t.place else h.named end as place, b.bad,
      b.bad and t.more_than > 0 as many, h.events, h.first_seq, h.last_seq, h.first_at, h.last_at,
      _qwf.alert_key(t.by, h.counts_as, b.bad, h.kind, h.last_seq, h.run_id,
        h.job_id, h.subject, h.names, h.labels) as key
    from applied t cross join happened h
    cross join lateral (
      select coalesce(h.counts_as = any (t.kinds) and (h.counts_as <> 'run_ended'
        or t.status in ('any', h.status)), false) as bad offset 0) b  -- 0: works it out once
    where (b.bad or h.kind = any (t.ends) and (h.kind <> 'run_ended'
        or t.status = 'failed' and h.status = 'completed'))
      and (t.names = '{}' or h.names @> t.names)
      and (t.label is null or h.labels @> t.label)
      and (t.notify is null or h.named is not null)
      and (t.children or not h.child)
  ), folded as materialized (
    select p.place, p.key, max(p.last_seq) as last,
      coalesce(sum(p.events::int) filter (where p.bad), 0) as bad,
      min(p.first_seq) filter (where p.bad) as first_bad,
      max(p.last_seq) filter (where p.bad) as last_bad,
      min(p.first_at) filter (where p.bad) as first_at,
      max(p.last_at) filter (where p.bad) as last_at,
      array_agg(p.last_seq) filter (where p.many) as parts
    from pair p group by p.place, p.key
  ), timed as (  -- only rules with more_than ask when each event was
    select f.place, f.key, array_agg(t) as times
    from folded f cross join lateral unnest(f.parts) s (seq)
    join happened h on h.last_seq = s.seq cross join lateral unnest(h.times) t
    group by f.place, f.key
  )
  select r.rule, f.key,
    coalesce(case when r.by in ('subject', 'run', 'job', 'event')
      and h.counts_as <> 'alert_failed' then h.subject end, f.key),
    h.counts_as, f.bad, f.last > coalesce(f.last_bad, 0), f.first_at, f.last_at, f.first_bad,
    f.last_bad, h.run_id, h.job_id, t.times,
    case when h.counts_as = 'run_ended' then r.status = 'failed'
      else h.counts_as = any (v_paired) end,
    r.more_than, r.within, r.pause, r.repeat,
    case when h.counts_as = 'question_asked' then '0' else r.calm end
  from folded f
  join term r on r.place = f.place
  left join happened h on h.last_seq = f.last_bad
  left join timed t on t.place = f.place and t.key = f.key;
end $$;

commit;
