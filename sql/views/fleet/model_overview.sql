-- Deploy qwf:views/fleet/model_overview
-- Purpose: The models of each queue: which boxes could load one, which have it, and how many jobs
--   wait for it.
-- Guarantees: An agent announces the models of its servers for all its queues: those for which
--   nothing waits, and that no server of the queue has, are left out.

begin;

create view qwf.model_overview as
select m.queue, m.model, m.served, m.hosts, m.loaded, m.troubled, q.waiting
from (
  select
    a.queue, a.model, bool_or(a.has = 'served') as served,
    bool_or(bool_or(a.has = 'served')) over (partition by a.model) as served_somewhere,
    bool_or(a.has <> 'loaded') as known,
    coalesce(array_agg(distinct a.host order by a.host) filter (where a.has = 'offered'), '{}')
      as hosts,
    coalesce(array_agg(distinct a.host order by a.host) filter (where a.has = 'loaded'), '{}')
      as loaded,
    coalesce(jsonb_agg(a.trouble order by a.host, a.trouble) filter (where a.trouble is not null),
      '[]') as troubled
  from (
    select w.queue, o.model, w.host, 'offered' as has, null::jsonb as trouble
    from qwf.worker_overview w cross join unnest(w.models) o (model)
    where w.live
    union all
    select s.queue, o.model, s.host, 'served',
      case when s.state in ('broken', 'failed', 'gone') or s.lacks ? o.model then
        jsonb_build_object('host', s.host, 'server', s.server, 'state', s.state,
          'why', s.lacks -> o.model) end
    from qwf.server_overview s cross join unnest(s.models) o (model)
    union all
    select s.queue, o.model, s.host, 'loaded', null
    from qwf.server_overview s
    cross join unnest(case when s.model is null then s.models else array[s.model] end) o (model)
    where s.state = 'ready'
    union all
    select u.queue, e.value ->> 'model', b.host, 'loaded', null
    from qwf.box_overview b
    cross join jsonb_array_elements(b.models) e
    cross join jsonb_array_elements_text(e.value -> 'queues') u (queue)
  ) a
  group by a.queue, a.model
) m
cross join lateral (
  select count(*) as waiting from (
    select from qwf.jobs j
    where j.queue = m.queue and j.required_model = m.model and j.status = 'queued'
      and j.limit_by is null
      and coalesce(j.limit_by, j.required_model) = m.model
    order by j.limit_by desc, j.run_next, j.priority desc, j.position desc limit 1001
  ) j
) q
where m.known and (m.served or q.waiting > 0 or not m.served_somewhere)
order by m.queue, m.model;
comment on view qwf.model_overview is
  'Models of each queue, and the boxes that have them: select * from qwf.model_overview.';
comment on column qwf.model_overview.queue is 'Queue whose jobs may require the model.';
comment on column qwf.model_overview.model is 'Its name.';
comment on column qwf.model_overview.served is 'True: a model server of the queue has it.';
comment on column qwf.model_overview.hosts is 'Boxes with a live worker that announces it.';
comment on column qwf.model_overview.loaded is
  'Boxes that have it loaded, in a worker or in a model server.';
comment on column qwf.model_overview.troubled is
  'Model servers of the queue that have it and cannot serve it: a list of {host, server, state, '
  'why}. why: the server lacks the model.';
comment on column qwf.model_overview.waiting is
  'Queued jobs without a limit that require it, counted to 1,001.';

commit;
