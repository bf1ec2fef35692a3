-- Model servers and their logs, the models of each queue, and requests to load one.

-- The model servers of all live workers: what each one does now, and what it could serve. Never
-- fails because of what a worker has reported: a figure that is not a number, or out of range,
-- is null. What worker_controls sets counts before what the agent has announced.
create view qwf.server_overview as
select
  w.host, w.queue, s.value ->> 'name' as server, s.value ->> 'kind' as kind,
  coalesce((s.value -> 'external')::boolean, false) as external,
  case
    when o.host is not null and o.stop_policy <> 'pause' then 'off'
    when c.server <> s.value ->> 'name' then 'not chosen'
    else coalesce(d.value ->> 'state', 'off')
  end as state,
  d.value ->> 'model' as model,
  coalesce((jsonb_path_query_first(
    d.value, '$.inflight ? (@ >= 0 && @ < 1e9)'))::int, 0) as inflight,
  coalesce(c.parallel, (s.value -> 'parallel')::int) as parallel,
  coalesce(extract(epoch from c.server_idle),
    (jsonb_path_query_first(
      s.value, '$.idle_s ? (@ >= 0 && @ < 1e9)'))::numeric)::float8 as idle_s,
  s.value ->> 'card' as card,
  (jsonb_path_query_first(s.value -> 'models' -> (d.value ->> 'model'),
    '$ ? (@ >= 0 && @ < 1e9)'))::int as vram_mb,
  array(select m from jsonb_object_keys(s.value -> 'models') m order by m) as models,
  coalesce(jsonb_path_query_first(d.value, '$.lacks ? (@.type() == "object")'), '{}') as lacks,
  (jsonb_path_query_first(
    d.value, '$.since_s ? (@ >= 0 && @ < 1e9)'))::float8 as since_s,
  (jsonb_path_query_first(
    d.value, '$.load_s ? (@ >= 0 && @ < 1e9)'))::float8 as load_s,
  coalesce((jsonb_path_query_first(
    d.value, '$.starts ? (@ >= 0 && @ < 1e9)'))::int, 0) as starts,
  coalesce((jsonb_path_query_first(
    d.value, '$.crashes ? (@ >= 0 && @ < 1e9)'))::int, 0) as crashes,
  coalesce((jsonb_path_query_first(
    d.value, '$.tokens ? (@ >= 0 && @ < 1e15)'))::bigint, 0) as tokens,
  coalesce((jsonb_path_query_first(
    d.value, '$.prompt_tokens ? (@ >= 0 && @ < 1e15)'))::bigint, 0) as prompt_tokens,
  (jsonb_path_query_first(
    d.value, '$.tokens_per_s ? (@ >= 0 && @ < 1e9)'))::float8 as tokens_per_s,
  d.value ->> 'error' as error, w.id as worker, qwf.now() - w.last_seen as last_seen,
  c.server as only_server, c.parallel as set_parallel, c.server_idle as set_idle
from qwf.workers w
cross join qwf.settings g
cross join lateral jsonb_array_elements(w.servers) with ordinality s (value, n)
left join lateral (
  select r.value
  from jsonb_path_query(w.stats, '$.servers[*] ? (@.type() == "object")') r (value)
  where r.value ->> 'name' = s.value ->> 'name'
  limit 1
) d on true
left join qwf.worker_controls c on c.host_label = w.host and c.queue = w.queue
left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
where w.stopped_at is null and w.last_seen > qwf.now() - g.worker_stale
order by w.host, w.queue, s.n;
comment on view qwf.server_overview is
  'Model servers of the live workers: select * from qwf.server_overview.';
comment on column qwf.server_overview.host is 'Box it runs on.';
comment on column qwf.server_overview.queue is 'Queue that it serves.';
comment on column qwf.server_overview.server is 'Its name in the configuration of the agent.';
comment on column qwf.server_overview.kind is 'Its protocol: openai or ollama.';
comment on column qwf.server_overview.external is
  'True: the agent knows only its address, and neither starts nor stops it.';
comment on column qwf.server_overview.state is
  'off, starting, ready, draining, asleep, stopping, failed (starts again soon), broken (failed '
  'too often: tried again every five minutes), gone (an external one that does not answer), or not '
  'chosen: worker_controls names another server.';
comment on column qwf.server_overview.model is 'Model that it serves now, or is loading.';
comment on column qwf.server_overview.inflight is 'Jobs that use it now.';
comment on column qwf.server_overview.parallel is 'How many requests it takes at once.';
comment on column qwf.server_overview.idle_s is
  'Seconds without a job after which it is stopped; 0: never.';
comment on column qwf.server_overview.card is 'Card that it uses: its number, all or none.';
comment on column qwf.server_overview.vram_mb is
  'GPU memory that its model needs, MiB, as configured; null: unknown.';
comment on column qwf.server_overview.models is 'Models that it can serve.';
comment on column qwf.server_overview.lacks is
  'Models of these that it cannot serve whatever its state, each with why: an object.';
comment on column qwf.server_overview.since_s is 'Seconds that it has been in this state.';
comment on column qwf.server_overview.load_s is 'Seconds that its last start took.';
comment on column qwf.server_overview.starts is 'How often its agent has started it.';
comment on column qwf.server_overview.crashes is 'How often it ended although nobody wanted it to.';
comment on column qwf.server_overview.tokens is
  'Tokens generated for jobs that have completed since its agent started, as they counted them.';
comment on column qwf.server_overview.prompt_tokens is
  'Tokens of the prompts of the same jobs.';
comment on column qwf.server_overview.tokens_per_s is
  'Tokens generated a second for jobs that have completed, over the last minute.';
comment on column qwf.server_overview.error is 'Why it failed last, with the end of its log.';
comment on column qwf.server_overview.worker is 'Worker that runs it.';
comment on column qwf.server_overview.last_seen is 'Time since the last heartbeat of that worker.';
comment on column qwf.server_overview.only_server is
  'The only server of the host that serves the queue, as worker_controls sets it; null: all.';
comment on column qwf.server_overview.set_parallel is
  'Setting of worker_controls for parallel; null: as the agent is configured.';
comment on column qwf.server_overview.set_idle is
  'Setting of worker_controls for idle_s; null: as the agent is configured.';

-- Output of model servers, as their agents report it; also of agents that have ended, because
-- what a server printed last is still there.
create view qwf.server_logs as
select
  w.host || '/' || (s.value ->> 'name') as server, w.id as worker, w.pid, w.started_at,
  case
    when w.stopped_at is not null then 'stopped'
    when w.last_seen < qwf.now() - g.worker_stale then 'silent'
  end as agent,
  coalesce((s.value -> 'external')::boolean, false) as external,
  coalesce(d.value ->> 'state', 'off') as state, d.value ->> 'model' as model,
  coalesce(d.value ->> 'log', '') as log,
  coalesce((jsonb_path_query_first(d.value,
    '$.log_bytes ? (@.type() == "number" && @ >= 0 && @ < 1e15)'))::bigint, 0) as printed
from qwf.workers w
cross join qwf.settings g
cross join lateral jsonb_array_elements(w.servers) s
left join lateral (
  select r.value
  from jsonb_path_query(w.stats, '$.servers[*] ? (@.type() == "object")') r (value)
  where r.value ->> 'name' = s.value ->> 'name'
  limit 1
) d on true;
comment on view qwf.server_logs is
  'The end of what each model server has printed, a row for each agent that had it: '
  'select log from qwf.server_logs where server = ''box-a/vllm'' order by started_at desc limit 1.';
comment on column qwf.server_logs.server is 'Its box and its name: box-a/vllm.';
comment on column qwf.server_logs.worker is 'Worker that runs it.';
comment on column qwf.server_logs.pid is 'Process id of the agent.';
comment on column qwf.server_logs.started_at is 'When that worker registered.';
comment on column qwf.server_logs.agent is
  'stopped or silent: what the row says is the last that was heard; null: the agent is alive.';
comment on column qwf.server_logs.external is
  'True: the agent knows only its address, and sees none of its output.';
comment on column qwf.server_logs.state is 'As in qwf.server_overview.';
comment on column qwf.server_logs.model is 'Model that it serves, or is loading; null: none.';
comment on column qwf.server_logs.log is 'The end of its output, at most 4 KiB of each heartbeat.';
comment on column qwf.server_logs.printed is 'How many bytes it has printed since its agent began.';

-- The models of each queue: which boxes could load one, which have it, and how many jobs wait
-- for it. An agent announces the models of its servers for all its queues: those for which
-- nothing waits, and that no server of the queue has, are left out.
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

-- Models that people have asked boxes to load or unload within a day, and how far that is.
create view qwf.model_request_overview as
select
  r.id, r.host, r.queue, r.model, r.action, r.login, r.acting_for, r.requested_at,
  r.taken_by, r.progress,
  r.answered_at, r.error,
  case
    when r.error is not null then 'failed'
    when r.answered_at is not null then 'done'
    when w.id is not null then 'under way'
    when r.taken_by is not null then 'abandoned'
    when r.requested_at < qwf.now() - interval '5 min' then 'expired'
    else 'waiting'
  end as state
from qwf.model_requests r
cross join qwf.settings s
left join qwf.workers w on w.id = r.taken_by and w.stopped_at is null
  and w.last_seen > qwf.now() - s.worker_stale
order by r.id desc;
comment on view qwf.model_request_overview is
  'Requests of the last day to load or unload models: select * from qwf.model_request_overview.';
comment on column qwf.model_request_overview.id is 'Id that request_model() returned.';
comment on column qwf.model_request_overview.host is 'The box.';
comment on column qwf.model_request_overview.queue is 'The queue whose worker should do it.';
comment on column qwf.model_request_overview.model is 'The model; null: unload all.';
comment on column qwf.model_request_overview.action is 'load or unload.';
comment on column qwf.model_request_overview.login is 'Login that asked.';
comment on column qwf.model_request_overview.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.model_request_overview.requested_at is 'When it was asked for.';
comment on column qwf.model_request_overview.taken_by is 'Worker that took it; null: none yet.';
comment on column qwf.model_request_overview.progress is
  'How far it is, in words; null: nothing was reported.';
comment on column qwf.model_request_overview.answered_at is 'When it was done or had failed.';
comment on column qwf.model_request_overview.error is 'Why it failed; null: it has not.';
comment on column qwf.model_request_overview.state is
  'waiting (a worker may take it), under way, done, failed, expired (no worker took it within five '
  'minutes) or abandoned (the worker that took it has ended).';
