-- Limits, their slots, and the settings.

-- The named limits, and the jobs that hold their slots. Who does not read queued does not pay
-- for it: it counts every job that waits.
create view qwf.limit_overview as
select
  l.name, l.max_running, s.running, l.starts, l.per, l.created_at,
  case when l.starts > 0 and not l.keyed then (
    select count(*) from qwf.limit_starts t
    where t.limit_name = l.name and t.used_at > qwf.now() - l.per and t.place <= l.starts
  ) end as started,
  s.jobs,
  (select count(*) from qwf.jobs j
    where j.status = 'queued' and (l.name in (j.limit_by, 'queue:' || j.queue)
      or l.keyed and split_part(j.limit_by, ':', 1) = l.name and j.limit_place is not null)
  ) as queued,
  coalesce(h.held, '[]') as held, l.keyed,
  case when l.keyed then (
    select count(distinct j.limit_by) from qwf.jobs j
    where j.limit_place is not null and j.status in ('queued', 'running')
      and split_part(j.limit_by, ':', 1) = l.name) end as keys,
  d.until as held_until, coalesce('job ' || d.job_id, quote_ident(d.login)) as held_by,
  case when l.keyed then (
    select count(*) from qwf.limit_holds k
    where k.name <> l.name and split_part(k.name, ':', 1) = l.name and k.until > qwf.now()
  ) end as held_keys
from qwf.limits l
left join qwf.limit_holds d on d.name = l.name and d.until > qwf.now()
cross join lateral (
  select
    count(*) as running, coalesce(array_agg(s.job_id order by s.job_id), '{}') as jobs
  from (
    select o.job_id from qwf.limit_slots o
    where o.limit_name = l.name and o.job_id is not null
    union all
    select j.id from qwf.jobs j
    where l.keyed and j.limit_place is not null and j.status in ('queued', 'running')
      and (case when j.status = 'queued' then j.queue end) is null
      and split_part(j.limit_by, ':', 1) = l.name
  ) s
) s
cross join lateral (
  select jsonb_agg(jsonb_build_object('slot', s.slot, 'job', j.id, 'task', j.task,
    'seconds', extract(epoch from qwf.now() - j.claimed_at)) order by s.slot) as held
  from (
    select s.slot, s.job_id from qwf.limit_slots s
    where s.limit_name = l.name and s.job_id is not null order by s.slot limit 50
  ) s
  join qwf.jobs j on j.id = s.job_id
) h
order by l.name;
comment on view qwf.limit_overview is
  'Named limits with the jobs that hold their slots: select * from qwf.limit_overview.';
comment on column qwf.limit_overview.name is
  'Name that jobs give in limit_by; queue:NAME is the limit of a queue.';
comment on column qwf.limit_overview.keyed is
  'True: the numbers hold for each key; see qwf.busiest_keys.';
comment on column qwf.limit_overview.keys is
  'Keys with a job that waits or runs; null: it does not count by key.';
comment on column qwf.limit_overview.held_until is
  'No job of it starts before then, see qwf.hold_limit; null: it is not held.';
comment on column qwf.limit_overview.held_by is
  'Job that asked for the hold, or the login; null: it is not held.';
comment on column qwf.limit_overview.held_keys is
  'Keys of it that are held by themselves; null: it does not count by key.';
comment on column qwf.limit_overview.max_running is
  'How many jobs may run at once; 10,000 if it was created with a rate alone.';
comment on column qwf.limit_overview.running is 'Jobs that hold a slot, of all keys together.';
comment on column qwf.limit_overview.starts is
  'How many jobs may start within any period of the length per; null: any number.';
comment on column qwf.limit_overview.per is 'Length of the period in which starts are counted.';
comment on column qwf.limit_overview.created_at is 'When it was created.';
comment on column qwf.limit_overview.started is
  'How many have started within the last period; null: any number may, or it counts by key.';
comment on column qwf.limit_overview.jobs is 'Jobs that hold a slot.';
comment on column qwf.limit_overview.queued is 'Jobs that wait for it or for its queue.';
comment on column qwf.limit_overview.held is
  'The first 50 of its slots that are held: a list of {slot, job, task, seconds}.';

-- The slots of limits, and the jobs that hold them.
create view qwf.slot_overview as
select
  s.limit_name, l.max_running, s.slot, s.job_id, j.run_id, j.node_id, j.task, j.claimed_at,
  j.claimed_by as worker, coalesce(w.host, split_part(j.claimed_by, ':', 1)) as host
from qwf.limit_slots s
left join qwf.limits l on l.name = s.limit_name
left join qwf.jobs j on j.id = s.job_id
left join qwf.workers w on w.id = j.claimed_by;
comment on view qwf.slot_overview is
  'Slots of limits, and who holds them: select * from qwf.slot_overview where limit_name = '
  '''mail''.';
comment on column qwf.slot_overview.limit_name is 'The limit; queue:NAME is that of a queue.';
comment on column qwf.slot_overview.max_running is
  'How many jobs may run at once; null: the limit was dropped.';
comment on column qwf.slot_overview.slot is
  'Number from 1; one above max_running is left over from a larger limit and not handed out.';
comment on column qwf.slot_overview.job_id is 'Job that holds it; null: free.';
comment on column qwf.slot_overview.run_id is 'Run of that job; null: standalone.';
comment on column qwf.slot_overview.node_id is 'Node of that job.';
comment on column qwf.slot_overview.task is 'Task of that job.';
comment on column qwf.slot_overview.claimed_at is 'When that job was claimed.';
comment on column qwf.slot_overview.worker is 'Worker that runs it.';
comment on column qwf.slot_overview.host is 'Box of that worker.';

-- The settings, one in a row: value, default and meaning. Reads names, defaults and meanings
-- from the catalogue, so that none is written twice.
create view qwf.setting_overview as
select
  a.attname::text collate "default" as name,
  to_jsonb(s) -> a.attname as value,
  case when a.atttypid = 'interval'::regtype then to_jsonb(d.value)
    when a.atttypid = 'text[]'::regtype then to_jsonb(d.value::text[])
    else d.value::jsonb end as default_value,
  case
    when a.atttypid = 'interval'::regtype then 'time'
    when a.attname ~ '_bytes$' then 'bytes'
    when a.atttypid = 'text[]'::regtype then 'texts'
    when a.attname ~ '_percent$' then '%'
    when a.attname ~ '_backoff$' then 'seconds'
    else 'number'
  end as unit,
  pg_catalog.col_description(a.attrelid, a.attnum) as about
from pg_catalog.pg_attribute a
join pg_catalog.pg_attrdef e on e.adrelid = a.attrelid and e.adnum = a.attnum
cross join lateral (  -- of '00:00:30'::interval, what is in the quotes
  select coalesce(substring(x.text from '^''(.*)''::[a-z]+(?:[[][]])?$'), x.text) as value
  from pg_catalog.pg_get_expr(e.adbin, e.adrelid) x (text)
) d
cross join qwf.settings s
where a.attrelid = 'qwf.settings'::regclass and a.attname <> 'singleton'
order by a.attnum;
comment on view qwf.setting_overview is
  'The settings with their defaults; change one with select qwf.change_settings(...).';
comment on column qwf.setting_overview.name is 'Name of the setting.';
comment on column qwf.setting_overview.value is
  'The value that applies now, as change_settings takes it.';
comment on column qwf.setting_overview.default_value is
  'The value that applies if nobody changes it.';
comment on column qwf.setting_overview.unit is
  'time (such as 90 s or 2 h), number, bytes, %, seconds or texts (a list of them).';
comment on column qwf.setting_overview.about is 'Its meaning.';
