-- Deploy qwf:functions/alerts/_fold_events
-- Purpose: Returns what new events mean to a rule: a row for each subject, with
--   the bad ones counted, and whether a good end came last.
-- Guarantees: Events of jobs and runs that an alert made count only for rules on alert_failed, and
--   those of such a rule's own jobs for none. Reads events by their numbers; labels are read only
--   if the rule asks for them.
-- Called by: _try_rule.

begin;

create function _qwf.fold_events(p_rule qwf.alerts, p_groups _qwf.event_group[])
returns setof _qwf.alert_change
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_where jsonb := p_rule.rule -> 'where';
  v_names jsonb := v_where - '{status,label}'::text[];
  v_label jsonb := v_where -> 'label';
  v_status text := v_where ->> 'status';
  v_by text := p_rule.rule ->> 'by';
  v_on_label text := substring(v_by from '^label[.](.*)');
  v_many boolean := p_rule.rule ->> 'more_than' <> '0';
  v_children boolean := p_rule.rule -> 'children';
  v_ends text[] := array(
    select unnest(k.ends) from _qwf.alert_kinds() k where k.kind = any (p_rule.kinds));
begin
  return query
  with happened as (
    select e.*, case when e.names ? 'alert' then _qwf.alert_kind(e) else e.kind end as counts_as
    from unnest(p_groups) g
    cross join lateral unnest(g.seqs) s (seq)
    join _qwf.event_log e on e.seq = s.seq
    where (g.kind = any (p_rule.kinds || v_ends)
        or 'alert_failed' = any (p_rule.kinds) and g.names ? 'alert')
      and (v_names = '{}' or g.names @> v_names)
      and (p_rule.notify is null or g.names ->> 'notify' = p_rule.notify)
      and (v_children or not e.detail ? 'parent')
  ), labelled as (
    select h.*, l.labels,
      coalesce(h.counts_as = any (p_rule.kinds) and (h.counts_as <> 'run_ended'
        or v_status in ('any', h.detail ->> 'status')), false) as bad
    from happened h
    left join lateral (
      select coalesce((select r.labels from qwf.runs r where r.id = h.run_id),
        (select j.labels from qwf.jobs j where j.id = h.job_id)) as labels
      where v_label is not null or v_on_label is not null) l on true
  ), keyed as (
    select l.*, _qwf.alert_key(v_by, l.counts_as, l.bad, l.kind, l.seq, l.run_id, l.job_id,
      l.subject, l.names, l.labels) as key
    from labelled l
    where (v_label is null or l.labels @> v_label)
      and (l.bad or l.kind = any (v_ends) and (l.kind <> 'run_ended'
        or v_status = 'failed' and l.detail ->> 'status' = 'completed'))
  ), folded as (
    select k.key, count(*) filter (where k.bad) as bad, max(k.seq) as last,
      min(k.seq) filter (where k.bad) as first_bad, max(k.seq) filter (where k.bad) as last_bad,
      min(k.at) filter (where k.bad) as first_at, max(k.at) filter (where k.bad) as last_at,
      (array_agg(k.at order by k.seq desc) filter (where k.bad and v_many))[:1001] as times
    from keyed k
    group by k.key
  )
  select f.key,
    coalesce(case when v_by in ('subject', 'run', 'job', 'event') and n.kind <> 'alert_failed'
      then k.subject end, f.key),
    n.kind, f.bad, f.last > coalesce(f.last_bad, 0), f.first_at, f.last_at, f.first_bad,
    f.last_bad, k.run_id, k.job_id, coalesce(f.times, array[f.last_at])
  from folded f
  left join _qwf.event_log k on k.seq = f.last_bad
  left join lateral (
    select case when k.names ? 'alert' then _qwf.alert_kind(k) else k.kind end as kind) n on true
  order by f.last;
end $$;

commit;
