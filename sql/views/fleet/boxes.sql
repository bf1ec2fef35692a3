-- Boxes and their load over time.

-- Every box that is known: its workers, its load, its cards, the models in them, and what failed
-- there. Never fails because of what an agent has sent: a figure that is not a number, or is out
-- of range, is null. A filter by host is applied before anything is computed, and who does not
-- read the load or failed does not pay for it. Reads an unlogged table, so a standby cannot
-- answer.
create view qwf.box_overview as
select
  b.host, coalesce(w.workers > 0, false) or m.host is not null as live,
  coalesce(w.workers, 0)::int as workers, coalesce(w.dead, 0)::int as dead,
  coalesce(w.slots, 0)::int as slots, coalesce(w.running, 0)::int as running,
  coalesce(w.queues, '{}') as queues, coalesce(w.versions, '{}') as versions, w.last_seen,
  coalesce(f.failed, 0)::int as failed, m.sampled_at, m.cpu_percent, m.cpu_ours_percent,
  m.ram_percent, m.ram_used_mb, m.ram_total_mb, m.ram_ours_used_mb, m.swap_used_mb,
  coalesce(m.cards, '[]') as cards, coalesce(w.models, '[]') as models,
  coalesce(w.model_loads, 0)::bigint as model_loads,
  coalesce(w.model_load_s, 0)::float8 as model_load_s,
  coalesce(w.swaps_avoided, 0)::bigint as swaps_avoided
from (
  select n.host from qwf.workers n
  union
  select s.host from qwf.host_metrics s where s.sampled_at > (select qwf.now() - interval '1 min')
) b
left join (
  select
    a.host, sum(a.workers) as workers, sum(a.dead) as dead, sum(a.slots) as slots,
    sum(a.running) as running, min(a.last_seen) as last_seen,
    array(select distinct q from unnest(string_to_array(string_agg(a.queues, ','), ',')) q
      order by q) as queues,
    array_remove(array_agg(distinct a.version), null) as versions,
    jsonb_path_query_array(
      jsonb_agg(a.models order by a.agent) filter (where a.models is not null), '$[*][*]')
      as models,
    sum(a.model_loads) as model_loads, sum(a.model_load_s) as model_load_s,
    sum(a.swaps_avoided) as swaps_avoided
  from (
    select
      g.host, g.agent, g.workers, g.dead, g.slots, g.running, g.last_seen,
      array_to_string(g.queues, ',') as queues, g.version,
      (select jsonb_agg(jsonb_build_object(
          'model', m.value -> 'model', 'queues', g.queues, 'card', m.value ->> 'card',
          'busy', coalesce(m.value -> 'busy' = 'true', false),
          'warm_s', k.warm_s + g.silent_s,
          'left_s', case when m.value -> 'busy' is distinct from 'true'
            then greatest(0, extract(epoch from s.model_idle) - k.idle_s - g.silent_s) end)
          order by m.n)
        from jsonb_path_query(g.stats,
          'strict $.models[*] ? (@.type() == "object" && @.model.type() == "string")', '{}', true)
          with ordinality m (value, n)
        cross join lateral (select
          (jsonb_path_query_first(m.value, '$.warm_s ? (@ >= 0 && @ < 1e15)'))::float8 as warm_s,
          (jsonb_path_query_first(m.value, '$.idle_s ? (@ >= 0 && @ < 1e15)'))::float8 as idle_s
        ) k
        where m.n <= 64) as models,
      (jsonb_path_query_first(
        g.stats, '$.model_loads ? (@ >= 0 && @ < 1e15)'))::bigint as model_loads,
      (jsonb_path_query_first(
        g.stats, '$.model_load_s ? (@ >= 0 && @ < 1e15)'))::float8 as model_load_s,
      (jsonb_path_query_first(
        g.stats, '$.swaps_avoided ? (@ >= 0 && @ < 1e15)'))::bigint as swaps_avoided
    from (  -- all workers of an agent report the same; those that take orders come first
      select
        w.host, w.agent, count(*) filter (where w.live) as workers,
        count(*) filter (where w.state = 'dead') as dead,
        max(w.slots) filter (where w.live) as slots,
        sum(w.running) filter (where w.live) as running, min(w.last_seen) as last_seen,
        max(w.version) filter (where w.live) as version,
        array_agg(w.queue order by w.state not in ('idle', 'busy'), w.queue)
          filter (where w.live) as queues,
        (array_agg(w.stats order by w.state not in ('idle', 'busy'), w.queue)
          filter (where w.live))[1] as stats,
        extract(epoch from (array_agg(w.last_seen
          order by w.state not in ('idle', 'busy'), w.queue))[1])::float8 as silent_s
      from qwf.worker_overview w
      group by w.host, w.agent
    ) g
    cross join qwf.settings s
  ) a
  group by a.host
) w on w.host = b.host
left join (
  select distinct on (s.host)
    s.host, s.sampled_at, s.cpu_percent, s.cpu_ours_percent, s.ram_percent, s.ram_used_mb,
    s.ram_total_mb, s.ram_ours_used_mb, s.swap_used_mb,
    (select jsonb_agg(jsonb_build_object(
        'id', left(coalesce(c.value ->> 'id', (c.n - 1)::text), 100),
        'use_pct', jsonb_path_query_first(c.value, '$.use_pct ? (@ >= 0 && @ < 1e15)'),
        'vram_used_mb', jsonb_path_query_first(c.value, '$.vram_used_mb ? (@ >= 0 && @ < 1e15)'),
        'vram_total_mb', jsonb_path_query_first(c.value, '$.vram_total_mb ? (@ >= 0 && @ < 1e15)'))
        order by c.n)
      from jsonb_path_query(s.gpus, 'strict $[*] ? (@.type() == "object")', '{}', true)
        with ordinality c (value, n)
      where c.n <= 64) as cards
  from qwf.host_metrics s
  where s.sampled_at > (select qwf.now() - interval '1 min')
  order by s.host, s.sampled_at desc
) m on m.host = b.host
left join (  -- no index has the host of a job, so only the newest failures are counted
  select w.host, count(*) as failed
  from (
    select j.claimed_by from qwf.jobs j
    where j.status = 'failed' and j.finished_at > (select qwf.now() - interval '1 h')
    order by j.finished_at desc limit 1000
  ) f
  join qwf.workers w on w.id = f.claimed_by
  group by w.host
) f on f.host = b.host
order by b.host;
comment on view qwf.box_overview is
  'Boxes with their workers, load, cards and models: select * from qwf.box_overview where live.';
comment on column qwf.box_overview.host is 'Its name.';
comment on column qwf.box_overview.live is
  'True: it has a live worker, or has sent a sample in the last minute.';
comment on column qwf.box_overview.workers is 'Live workers, one for each queue of each agent.';
comment on column qwf.box_overview.dead is 'Dead workers.';
comment on column qwf.box_overview.slots is 'Bodies that its agents run at once.';
comment on column qwf.box_overview.running is 'Jobs that its workers hold.';
comment on column qwf.box_overview.queues is 'Queues that its live workers serve.';
comment on column qwf.box_overview.versions is 'Versions of its agents.';
comment on column qwf.box_overview.last_seen is
  'Time since the last heartbeat of one of its workers; null: none in the last day.';
comment on column qwf.box_overview.failed is
  'Jobs that failed there in the last hour, of the newest 1,000 that failed anywhere.';
comment on column qwf.box_overview.sampled_at is
  'When its last sample came; null, as all of its load: none in the last minute.';
comment on column qwf.box_overview.cpu_percent is
  'Use of all its processors together, 0 to 100.';
comment on column qwf.box_overview.cpu_ours_percent is
  'Share of its agents in that; null: unknown.';
comment on column qwf.box_overview.ram_percent is 'Memory in use, 0 to 100.';
comment on column qwf.box_overview.ram_used_mb is 'Memory in use, MiB.';
comment on column qwf.box_overview.ram_total_mb is 'Total memory, MiB.';
comment on column qwf.box_overview.ram_ours_used_mb is
  'Memory in use by its agents, MiB; null: unknown.';
comment on column qwf.box_overview.swap_used_mb is 'Swap in use, MiB.';
comment on column qwf.box_overview.cards is
  'Its cards: a list of {id, use_pct, vram_used_mb, vram_total_mb}; MiB, null: unknown.';
comment on column qwf.box_overview.models is
  'Models that its agents have loaded, those of model servers left out: a list of {model, queues, '
  'card, busy, warm_s, left_s}. queues: of its agent, first one whose worker takes orders. warm_s: '
  'seconds since it was loaded. left_s: seconds until it is unloaded if no job needs it; null '
  'while one does.';
comment on column qwf.box_overview.model_loads is
  'How often its agents have loaded a model since they started.';
comment on column qwf.box_overview.model_load_s is 'Seconds that this took.';
comment on column qwf.box_overview.swaps_avoided is
  'How often a job was chosen because its model was loaded.';

-- The load of each box over time, for charts. A filter by host and time is answered by an index
-- of samples or of minutes, whichever is_sample asks for. Reads an unlogged table, so a standby
-- cannot answer.
create view qwf.box_history as
select
  m.host, m.sampled_at as at, true as is_sample,
  m.cpu_percent, null::real as cpu_percent_max, m.cpu_ours_percent,
  m.ram_percent, null::real as ram_percent_max, m.ram_total_mb, m.ram_ours_used_mb, m.swap_used_mb,
  c.gpu_percent, c.gpu_percent_max, c.vram_used_mb, c.vram_total_mb
from qwf.host_metrics m
cross join lateral (
  select
    avg(f.use_pct)::real as gpu_percent, max(f.use_pct)::real as gpu_percent_max,
    sum(f.vram_used_mb)::float8 as vram_used_mb, sum(f.vram_total_mb)::float8 as vram_total_mb
  from jsonb_path_query(m.gpus, 'strict $[*] ? (@.type() == "object")', '{}', true) g (card)
  cross join lateral (
    select
      jsonb_path_query_first(g.card, '$.use_pct ? (@ >= 0 && @ < 1e15)')::float8 as use_pct,
      jsonb_path_query_first(g.card, '$.vram_used_mb ? (@ >= 0 && @ < 1e15)')::float8
        as vram_used_mb,
      jsonb_path_query_first(g.card, '$.vram_total_mb ? (@ >= 0 && @ < 1e15)')::float8
        as vram_total_mb
  ) f
) c
union all
select
  m.host, m.minute, false, m.cpu_percent, m.cpu_percent_max, m.cpu_ours_percent, m.ram_percent,
  m.ram_percent_max, m.ram_total_mb, m.ram_ours_used_mb, m.swap_used_mb, m.gpu_percent,
  m.gpu_percent_max, m.vram_used_mb, m.vram_total_mb
from qwf.host_minutes m;
comment on view qwf.box_history is
  'The load of boxes over time: select * from qwf.box_history where host = ''gpu-1'' and not '
  'is_sample.';
comment on column qwf.box_history.host is 'The box.';
comment on column qwf.box_history.at is 'When the sample came; of a minute, its start (UTC).';
comment on column qwf.box_history.is_sample is
  'True: one sample, of the last minutes; false: the average of a minute.';
comment on column qwf.box_history.cpu_percent is 'Use of all its processors together, 0 to 100.';
comment on column qwf.box_history.cpu_percent_max is
  'Highest sample of the minute; null: a sample.';
comment on column qwf.box_history.cpu_ours_percent is
  'Share of the control groups of its agents in that; null: unknown.';
comment on column qwf.box_history.ram_percent is 'Use of its memory, 0 to 100.';
comment on column qwf.box_history.ram_percent_max is
  'Highest sample of the minute; null: a sample.';
comment on column qwf.box_history.ram_total_mb is 'Its memory, MiB.';
comment on column qwf.box_history.ram_ours_used_mb is
  'Memory in use by the control groups of its agents, MiB; null: unknown.';
comment on column qwf.box_history.swap_used_mb is 'Swap in use, MiB.';
comment on column qwf.box_history.gpu_percent is
  'Use of its cards, 0 to 100, average of all; null: no card, or unknown.';
comment on column qwf.box_history.gpu_percent_max is 'Highest use of a card, 0 to 100.';
comment on column qwf.box_history.vram_used_mb is 'Memory in use on all cards together, MiB.';
comment on column qwf.box_history.vram_total_mb is 'Memory of all cards together, MiB.';
