-- Deploy qwf:views/fleet/server_overview
-- Purpose: The model servers of all live workers: what each one does now, and what it could serve.
-- Guarantees: Never fails because of what a worker has reported: a figure that is not a number, or
--   out of range, is null. What worker_controls sets counts before what the agent has announced.

begin;

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

commit;
