-- Deploy qwf:functions/health/_doctor_alerts
-- Purpose: Finds rules that cannot be applied, messages that were not delivered or wait for another
--   try for long, and receivers that no live agent has.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_alerts() returns setof _qwf.finding
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'problem', 'alert ' || a.name,
    format('rule %s cannot be applied: %s', a.name, left(a.last_error, 200)),
    format('correct it: qwf alert set %s RULE', a.name)
  from qwf.alerts a where a.last_error_at > qwf.now() - interval '1 day'
  union all
  select 'problem', 'receiver ' || r.receiver,
    format('no live agent has receiver %s; %s messages wait', r.receiver, r.waiting),
    format('add [receiver.%s] to qwf.toml of an agent of queue qwf.alerts', r.receiver)
  from (
    select m.receiver, count(*) as waiting
    from qwf.alert_messages m
    cross join lateral (  -- offset: each by its id, whatever the statistics say
      select b.status, b.last_error from qwf.jobs b where b.id = m.sent_job offset 0) j
    where m.receiver is not null and j.status in ('scheduled', 'queued')
    group by m.receiver) r
  where not _qwf.has_receiver(r.receiver)
  union all
  select 'problem', 'receiver ' || t.receiver,
    format('%s messages for receiver %s wait for another try, the oldest for %s: %s', t.waiting,
      t.receiver, _qwf.spell_duration(t.age), left(t.error, 200)),
    format('see whether it works: qwf receivers --check %s, on its box', t.receiver)
  from (
    select m.receiver, count(*) as waiting, qwf.now() - min(m.created_at) as age,
      max(j.last_error) as error
    from qwf.alert_messages m
    cross join lateral (  -- offset: each by its id, whatever the statistics say
      select b.status, b.last_error from qwf.jobs b where b.id = m.sent_job offset 0) j
    where m.receiver is not null and j.status in ('scheduled', 'queued')
      and j.last_error is not null and m.created_at < qwf.now() - interval '10 min'
    group by m.receiver) t
  where _qwf.has_receiver(t.receiver)
  union all
  select 'problem', 'receiver ' || f.receiver,
    format('%s messages for receiver %s were not delivered: %s', f.lost, f.receiver,
      left(f.error, 200)),
    'correct it, and deliver them: qwf retry job --failed --task qwf.send'
  from (
    select m.receiver, count(*) as lost, max(j.last_error) as error
    from qwf.alert_messages m
    cross join lateral (  -- offset: each by its id, whatever the statistics say
      select b.status, b.last_error from qwf.jobs b where b.id = m.sent_job offset 0) j
    where m.receiver is not null and j.status = 'failed'
    group by m.receiver) f
$$;

commit;
