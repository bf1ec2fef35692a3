-- Deploy qwf:functions/health/_doctor_alerts
-- Purpose: Finds rules that cannot be applied, messages that were not delivered or wait for another
--   try for long, and receivers that no live agent has, the first five.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_alerts() returns setof _qwf.finding
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with had as materialized (
    select o.receiver from qwf.receiver_overview o where o.hosts <> '{}'
  ), told as materialized (
    select m.receiver, count(*) filter (where j.status <> 'failed') as waiting,
      count(*) filter (where j.status = 'failed') as lost,
      min(m.created_at) filter (where j.status <> 'failed' and j.last_error is not null) as since,
      _qwf.error_line(max(j.last_error)) as error,
      (array_agg(m.sent_job order by m.sent_job) filter (where j.status <> 'failed'))[:5] as jobs,
      m.receiver in (select h.receiver from had h) as is_had
    from qwf.alert_messages m
    cross join lateral (  -- offset: each by its id, whatever the statistics say
      select b.status, b.last_error from qwf.jobs b where b.id = m.sent_job offset 0) j
    where m.receiver is not null and j.status in ('scheduled', 'queued', 'failed')
    group by m.receiver
  )
  select 'problem', 'alert ' || a.name,
    format('rule %s cannot be applied: %s', a.name, left(a.last_error, 200)),
    format('correct it: qwf alert set %s RULE', a.name)
  from qwf.alerts a where a.last_error_at > qwf.now() - interval '1 day'
  union all
  select * from _qwf.first_few(array(
    select ('problem', 'receiver ' || r.receiver, format('no live agent has receiver %s; %s',
        r.receiver, case r.waiting
          when 1 then '1 message waits' else r.waiting || ' messages wait' end),
      format('add [receiver.%s] to qwf.toml of an agent of queue qwf.alerts',
        r.receiver))::_qwf.finding
    from told r where r.waiting > 0 and not r.is_had
    order by r.receiver not in (  -- those that administrators name come first
      select a.rule #>> '{do,receiver}' from qwf.alerts a
      where a.notify is null and a.rule -> 'do' ? 'receiver'), r.receiver))
  union all
  select 'problem', 'receiver ' || r.receiver, f.says, f.hint
  from told r
  cross join lateral (
    select format(case r.waiting
        when 1 then '%s message for receiver %s has waited for another try for %s: %s'
        else '%s messages for receiver %s wait for another try, the oldest for %s: %s' end,
        r.waiting, r.receiver, _qwf.spell_duration(qwf.now() - r.since), r.error),
      format('see on its box whether it works: qwf receivers --check %s; then send now: '
        'qwf change %s --next', r.receiver, array_to_string(r.jobs, ' '))
    where r.since < qwf.now() - interval '10 min' and r.is_had
    union all
    select format(case r.lost when 1 then '%s message for receiver %s was not delivered: %s'
        else '%s messages for receiver %s were not delivered: %s' end, r.lost, r.receiver, r.error),
      'correct it, and deliver them: qwf retry job --failed --task qwf.send'
    where r.lost > 0) f (says, hint)
$$;

commit;
