-- Deploy qwf:views/fleet/server_logs
-- Purpose: Output of model servers, as their agents report it; also of agents that have
--   ended, because what a server printed last is still there.

begin;

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

commit;
