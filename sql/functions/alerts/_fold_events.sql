-- Deploy qwf:functions/alerts/_fold_events
-- Purpose: Returns what the events between two numbers mean to a rule: a row for each subject, with
--   the bad ones counted, and whether a good end came last.
-- Guarantees: Events of jobs and runs that an alert made count only for rules on alert_failed, and
--   those of such a rule's own jobs for none. Reads events by their numbers; labels are read only
--   if the rule asks for them.
-- Called by: _try_rule.

begin;

create function _qwf.fold_events(p_rule qwf.alerts, p_after bigint, p_last bigint)
returns setof _qwf.alert_change
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_where jsonb := p_rule.rule -> 'where';
  v_names jsonb := v_where - '{status,label}'::text[];
  v_label jsonb := v_where -> 'label';
  v_status text := v_where ->> 'status';
  v_by text := p_rule.rule ->> 'by';
  v_on_label text := substring(v_by from '^label[.](.*)');
  v_children boolean := p_rule.rule -> 'children';
  v_ends text[] := array(
    select unnest(k.ends) from _qwf.alert_kinds() k where k.kind = any (p_rule.kinds));
begin
  return query
  with happened as (
    select e.*, _qwf.alert_kind(e) as counts_as from _qwf.event_log e
    where e.seq > p_after and e.seq <= p_last and e.kind = any (p_rule.kinds || v_ends
        || case when 'alert_failed' = any (p_rule.kinds) then '{run_ended,job_failed}'::text[] end)
      and (v_names = '{}' or e.names @> v_names)
      and (p_rule.notify is null or e.names ->> 'notify' = p_rule.notify)
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
    select l.*, case
        when v_by = 'event' then l.seq::text
        when v_by = 'rule' then ''
        when v_on_label is not null then coalesce(l.labels ->> v_on_label, '')
        when v_by = 'run' and l.run_id is not null then 'run ' || l.run_id
        when l.counts_as = 'alert_failed' then l.names ->> 'alert'
        when v_by = 'job' or v_by = 'subject' and (starts_with(l.kind, 'question')
            or not l.bad and l.kind in ('expired', 'cancelled'))
          then coalesce('job ' || l.job_id, 'run ' || l.run_id)
        when v_by in ('subject', 'run') then coalesce(l.subject, '')
        else coalesce(l.names ->> v_by, '') end as key
    from labelled l
    where (v_label is null or l.labels @> v_label)
      and (l.bad or l.kind = any (v_ends) and (l.kind <> 'run_ended'
        or v_status = 'failed' and l.detail ->> 'status' = 'completed'))
  )
  select k.key,
    coalesce(case when v_by in ('subject', 'run', 'job', 'event') and bool_and(
      k.counts_as <> 'alert_failed') then max(k.subject) end, k.key),
    (array_agg(coalesce(k.counts_as, k.kind) order by k.seq desc) filter (where k.bad))[1],
    count(*) filter (where k.bad), (array_agg(not k.bad order by k.seq desc))[1],
    min(k.at) filter (where k.bad), max(k.at) filter (where k.bad), max(k.at),
    min(k.seq) filter (where k.bad), max(k.seq) filter (where k.bad),
    (array_agg(k.run_id order by k.seq desc) filter (where k.bad))[1],
    (array_agg(k.job_id order by k.seq desc) filter (where k.bad))[1],
    (array_agg(k.at order by k.seq desc) filter (where k.bad))[:1001]
  from keyed k
  group by k.key
  order by min(k.seq);
end $$;

commit;
