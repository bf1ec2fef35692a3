-- Deploy qwf:functions/workers/agent_settings
-- Purpose: Returns the settings an agent needs, so that it reads no tables.
-- Guarantees: The queue's own values override the settings. pack_patience is null unless the queue
--   has the placement pack. instance and generation say whose files a folder holds.
-- Called by: agents, when they start.

begin;

create function qwf.agent_settings(queue text) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings jsonb;
begin
  select jsonb_build_object(
      'lease', extract(epoch from coalesce(q.lease, s.lease)),
      'timeout', extract(epoch from coalesce(q.timeout, s.timeout)),
      'heartbeat', extract(epoch from least(s.heartbeat, coalesce(q.lease, s.lease) / 3)),
      'poll', extract(epoch from s.poll),
      'pack_patience', case when q.placement = 'pack' then extract(epoch from s.pack_patience) end,
      'tick', extract(epoch from s.tick), 'cancel_grace', extract(epoch from s.cancel_grace),
      'stop_grace', extract(epoch from s.stop_grace),
      'stall_timeout', extract(epoch from s.stall_timeout), 'stall_samples', s.stall_samples,
      'idle_gpu_percent', s.idle_gpu_percent,
      'idle_cpu_percent', s.idle_cpu_percent, 'idle_ram_bytes', s.idle_ram_bytes,
      'gpu_health_window', extract(epoch from s.gpu_health_window),
      'model_load_grace', extract(epoch from s.model_load_grace),
      'affinity_max_wait', extract(epoch from s.affinity_max_wait),
      'model_idle', extract(epoch from s.model_idle), 'recycle_jobs', s.recycle_jobs,
      'metrics', extract(epoch from s.metrics),
      'max_value_bytes', s.max_value_bytes, 'max_error_bytes', s.max_error_bytes,
      'max_log_bytes', s.max_log_bytes, 'instance', i.id, 'generation', i.generation)
    into v_settings
  from qwf.queues q cross join qwf.settings s cross join qwf.instance i
  where q.name = agent_settings.queue;
  if v_settings is null then
    perform _qwf.raise_unknown_queue(agent_settings.queue);
  end if;
  return v_settings;
end $$;
comment on function qwf.agent_settings is
  'Settings for a worker on the queue, times in seconds, sizes in bytes; and instance and '
  'generation, which tell its database from others. QW006 for an unknown queue.';
call _qwf.allow('qwf.agent_settings', 'qwf_worker');

commit;
