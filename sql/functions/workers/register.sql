-- Workers registered, updated and deregistered. Locks: the jobs of the worker (by id), then as
-- the ends of attempts, then the rows of the worker.

-- Registers an agent process on a queue, with what it can do. Gives a new id at every start. Its
-- code may be new: a task of it that is held back is tried with one job. claim filters by the
-- announced tasks, models, VRAM, labels and project. Warns of another live worker with the same
-- model servers or card.
-- Raises: QW002 if 10,000 workers are live, QW005 for info that is malformed, larger than 64 KiB
--   or has an unknown key, QW006 for an unknown queue.
create function qwf.register_worker(host text, queue text, info jsonb default '{}') returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_id text := format('%s:%s:%s',
    register_worker.host, register_worker.queue, right(gen_random_uuid()::text, 8));
begin
  perform _qwf.check_text('host', register_worker.host, 255),
    _qwf.check_json('info', register_worker.info);
  if register_worker.queue = 'qwf.runs'
    or not exists (select from qwf.queues q where q.name = register_worker.queue)
  then
    perform _qwf.raise_unknown_queue(register_worker.queue);
  end if;
  if (
    select count(*) >= 10000 from qwf.workers w cross join qwf.settings s
    where w.stopped_at is null and w.last_seen > v_now - s.worker_stale)
  then
    raise exception using errcode = 'QW002', message = 'too many workers',
      detail = '10000 workers are live',
      hint = 'find the host that registers again and again: select host, count(*) from '
        'qwf.workers where stopped_at is null group by host order by 2 desc limit 5';
  end if;
  if coalesce(register_worker.host, '') = ''
    or jsonb_typeof(register_worker.info) is distinct from 'object'
    or jsonb_typeof(coalesce(register_worker.info -> 'labels', '{}')) <> 'object'
    or register_worker.info ->> 'out_root' !~ '^/'
    or octet_length(register_worker.info ->> 'out_root') > 4096
    or register_worker.info ->> 'out_root' ~ '[[:cntrl:]]|/[.][.](/|$)' then
    raise exception using errcode = 'QW005', message = 'invalid worker',
      detail = format('host %L, info %s',
        left(register_worker.host, 200), _qwf.excerpt(register_worker.info)),
      hint = 'name the host; info and info.labels are JSON objects; info.out_root is an absolute '
        'path of at most 4096 bytes, without .. and control characters';
  end if;
  perform _qwf.check_keys('info.', register_worker.info,
    '{pid,version,slots,tasks,models,current_model,vram_mb,labels,rank,project,out_root,servers,'
    'cards,task_options,follows_orders,writes_begun}');
  perform _qwf.check_servers(register_worker.info -> 'servers'),
    _qwf.check_task_options(register_worker.info -> 'task_options');
  insert into qwf.workers (
    id, host, queue, pid, version, slots, tasks, models, current_model, vram_mb, labels, rank,
    project, out_root, servers, cards, task_options, follows_orders, writes_begun, started_at,
    last_seen)
  select
    v_id, register_worker.host, register_worker.queue, i.pid, i.version, coalesce(i.slots, 1),
    i.tasks, i.models, i.current_model, i.vram_mb,
    coalesce(i.labels, '{}') || jsonb_build_object('host', register_worker.host),
    coalesce(i.rank, 0), i.project, i.out_root,
    coalesce(i.servers, '[]'), coalesce(i.cards, '{}'), coalesce(i.task_options, '{}'),
    coalesce(i.follows_orders, false), coalesce(i.writes_begun, false), v_now, v_now
  from jsonb_to_record(register_worker.info) i (
    pid int, version text, slots int, tasks text[], models text[], current_model text,
    vram_mb int, labels jsonb, rank int, project text, out_root text,
    servers jsonb, cards text[], task_options jsonb, follows_orders boolean,
    writes_begun boolean);
  perform _qwf.free_tasks(w.queue, w.tasks), _qwf.spread_holds()
  from qwf.workers w
  where w.id = v_id and exists (select from qwf.held_tasks h where h.queue = w.queue);
  perform _qwf.warn_of_same_cards(v_id, v_now);
  return v_id;
exception
  when data_exception or check_violation then
    raise exception using errcode = 'QW005', message = 'invalid worker', detail = sqlerrm,
      hint = 'pid, slots, vram_mb and rank are whole numbers; tasks and models are lists of names';
end $$;
comment on function qwf.register_worker is
  'Registers a worker and returns its id. info: pid, version, slots, tasks, models, current_model, '
  'vram_mb, labels, rank, project, out_root (absolute path of its folder for files), servers '
  '(model servers: name, kind, external, parallel, idle_s, card, models), cards (ids of the cards '
  'that it uses), task_options (what its code declares: {"task": {"max_attempts": "5"}}), '
  'follows_orders (true: it reads worker_orders() and releases its jobs by itself when it is off '
  'hard), writes_begun (true: it calls progress(begun => true) before the body of a job that runs '
  'at most once); QW005 for another key, QW006 for an unknown queue.';
call _qwf.allow('qwf.register_worker', 'qwf_worker');

-- Refuses model servers that the view server_overview could not show.
-- Raises: QW005, naming the first server that is wrong.
create function _qwf.check_servers(p_servers jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  if coalesce(jsonb_typeof(p_servers), 'array') <> 'array' then
    raise exception using errcode = 'QW005', message = 'invalid worker',
      detail = 'info.servers is not a list', hint = 'info.servers is a list of JSON objects';
  end if;
  perform _qwf.check_keys(format('info.servers[%s].', s.n - 1), s.value,
    '{name,kind,external,parallel,idle_s,card,models}')
  from jsonb_array_elements(p_servers) with ordinality s (value, n)
  where jsonb_typeof(s.value) = 'object';
  select format('info.servers[%s]: %s', s.n - 1, k.problem) into v_problem
  from jsonb_array_elements(p_servers) with ordinality s (value, n)
  cross join lateral (select case
    when jsonb_typeof(s.value) <> 'object' then 'a JSON object'
    when coalesce(jsonb_typeof(s.value -> 'name') <> 'string'
        or length(s.value ->> 'name') not between 1 and 200, true)
      then 'name: 1 to 200 characters'
    when coalesce(s.value ->> 'kind' not in ('openai', 'ollama'), true)
      then 'kind: openai or ollama'
    when jsonb_typeof(s.value -> 'external') <> 'boolean' then 'external: true or false'
    when _qwf.as_number(s.value -> 'parallel', 10000) is null
        or (s.value -> 'parallel')::numeric < 1 then 'parallel: a number from 1 to 10000'
    when jsonb_typeof(s.value -> 'models') is distinct from 'object'
      then 'models: an object of names and their GPU memory in MiB'
  end) k (problem)
  where k.problem is not null
  order by s.n
  limit 1;
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid worker', detail = v_problem,
      hint = 'correct the server and register again';
  end if;
end $$;

-- Refuses options of tasks that are not texts by their names, which find_missing_options could
-- not read.
-- Raises: QW005.
create function _qwf.check_task_options(p_options jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_valid boolean := coalesce(jsonb_typeof(p_options), 'object') = 'object';
begin
  if v_valid then
    select coalesce(bool_and(jsonb_typeof(t.value) = 'object'), true) into v_valid
    from jsonb_each(p_options) t;
  end if;
  if v_valid then
    select coalesce(bool_and(jsonb_typeof(o.value) = 'string'), true) into v_valid
    from jsonb_each(p_options) t
    cross join lateral jsonb_each(t.value) o;
  end if;
  if not v_valid then
    raise exception using errcode = 'QW005', message = 'invalid worker',
      detail = format('info.task_options %s', _qwf.excerpt(p_options)),
      hint = 'write {"task": {"option": "value as a text"}}';
  end if;
end $$;

-- Warns who registers a worker that another live one uses the same card, or runs the same model
-- servers on its host: both would load their models on one card. Only a warning, which the agent
-- logs. Leaves out addresses, which several agents may use, and earlier registrations of the
-- same process.
create function _qwf.warn_of_same_cards(p_worker text, p_now timestamptz) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_other text;
  v_names text;
begin
  select o.host || coalesce(' pid ' || o.pid, ''), string_agg(c.card, ', ' order by c.card)
    into v_other, v_names
  from qwf.workers w
  cross join qwf.settings g
  join qwf.workers o on (o.host, o.pid) is distinct from (w.host, w.pid) and o.cards && w.cards
    and o.stopped_at is null and o.last_seen > p_now - g.worker_stale
  cross join lateral unnest(w.cards) c (card)
  where w.id = p_worker and c.card = any (o.cards)
  group by o.host, o.pid
  order by o.host, o.pid
  limit 1;
  if found then
    raise warning using message = 'another agent uses the same card',
      detail = format('the agent on %s uses %s, too', v_other, v_names),
      hint = 'both may load a model on it: stop one, or give each other cards with --gpu N';
  end if;
  select o.id, string_agg(s.value ->> 'name', ', ' order by s.n) into v_other, v_names
  from qwf.workers w
  cross join qwf.settings g
  join qwf.workers o on o.host = w.host and o.id <> w.id and o.pid is distinct from w.pid
    and o.stopped_at is null and o.last_seen > p_now - g.worker_stale
  cross join lateral jsonb_array_elements(w.servers) with ordinality s (value, n)
  where w.id = p_worker and w.servers <> '[]' and o.servers <> '[]'
    and (s.value -> 'external')::boolean is not true
    and exists (
      select from jsonb_array_elements(o.servers) t
      where t.value -> 'name' = s.value -> 'name' and (t.value -> 'external')::boolean is not true)
  group by o.id
  order by o.id
  limit 1;
  if found then
    raise warning using message = 'another agent of this box runs the same model servers',
      detail = format('worker %s has %s, too', v_other, v_names),
      hint = 'both may load a model on one card: stop one, or give each its own qwf.toml';
  end if;
end $$;

-- Updates the tasks, their options, the models and the servers of a registered worker, whose
-- code has changed or whose model servers cannot serve or can serve again. The worker keeps its
-- id and its jobs; claim uses the new lists from now on. A key that info lacks stays as it was.
-- Locks: the worker's row.
create function qwf.update_worker(worker text, info jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_json('info', update_worker.info);
  if jsonb_typeof(update_worker.info) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid worker',
      detail = format('info %s', _qwf.excerpt(update_worker.info)),
      hint = 'info is a JSON object';
  end if;
  perform _qwf.check_keys(
    'info.', update_worker.info, '{tasks,task_options,models,servers,new_code}');
  if update_worker.info -> 'new_code' = 'true' then  -- before the row of the worker is locked
    perform _qwf.free_tasks(w.queue, w.tasks) from qwf.workers w where w.id = update_worker.worker;
  end if;
  perform _qwf.check_servers(update_worker.info -> 'servers'),
    _qwf.check_task_options(update_worker.info -> 'task_options');
  update qwf.workers w set
    tasks = case when update_worker.info ? 'tasks' then i.tasks else w.tasks end,
    models = case when update_worker.info ? 'models' then i.models else w.models end,
    servers = case when update_worker.info ? 'servers' then coalesce(i.servers, '[]')
      else w.servers end,
    task_options = coalesce(i.task_options, w.task_options)
  from jsonb_to_record(update_worker.info) i (
    tasks text[], models text[], servers jsonb, task_options jsonb)
  where w.id = update_worker.worker and w.stopped_at is null;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such worker',
      detail = format('worker %L', left(update_worker.worker, 200)),
      hint = 'register it again with register_worker()';
  end if;
exception
  when data_exception then
    raise exception using errcode = 'QW005', message = 'invalid worker', detail = sqlerrm,
      hint = 'tasks and models are lists of names';
end $$;
comment on function qwf.update_worker is
  'Replaces the tasks, task_options, models and servers that a worker announced when it '
  'registered; tasks or models null: not filtered. new_code: true says that its tasks have new '
  'code, which ends the time for which they are held back. QW001 for an unknown worker, QW005 for '
  'malformed info or another key.';
call _qwf.allow('qwf.update_worker', 'qwf_worker');

-- Returns the settings an agent needs, so that it reads no tables. The queue's own values
-- override the settings. pack_patience is null unless the queue has the placement pack. instance
-- and generation say whose files a folder holds.
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

-- Marks a worker as stopped and releases the jobs it held: no budget is counted, and they go to
-- the front of their band. A second call does no harm. An event names who called.
-- Locks: the jobs (by id), then as _end_attempts, then the worker's rows.
create function qwf.deregister_worker(worker text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_reports _qwf.report[];
  v_worker qwf.workers;
begin
  if starts_with(deregister_worker.worker, 'qwf.') then
    perform _qwf.refuse_engine_name('worker', deregister_worker.worker);
  end if;
  select array_agg((j.id, j.token, 'released', null, null,
      jsonb_build_object('reason', 'worker_stopped'))::_qwf.report order by j.id) into v_reports
  from qwf.jobs j
  where j.claimed_by = deregister_worker.worker and j.status = 'running';
  if v_reports is not null then
    perform _qwf.end_attempts(v_reports);
  end if;
  delete from qwf.sleepers s where s.worker = deregister_worker.worker;
  update qwf.workers w set stopped_at = qwf.now()
  where w.id = deregister_worker.worker and w.stopped_at is null
  returning w.* into v_worker;
  if found then
    insert into _qwf.event_log (at, kind, subject, detail)
    values (v_worker.stopped_at, 'worker_stopped', v_worker.host, jsonb_build_object(
      'worker', v_worker.id, 'host', v_worker.host, 'queue', v_worker.queue,
      'released', coalesce(cardinality(v_reports), 0)));
  end if;
end $$;
comment on function qwf.deregister_worker is
  'Marks the worker as stopped and releases the jobs it held.';
call _qwf.allow('qwf.deregister_worker', 'qwf_worker');

-- Forgets a box that is gone for good: its dead workers and the orders for it. The jobs that its
-- workers held are released, as deregister_worker does. A box that comes back registers again,
-- without the orders. A second call does no harm. A box that has no worker and no order is told
-- in a notice, with the name that was meant.
-- Locks: as deregister_worker, worker by worker, then the orders.
-- Notifies: worker_control, with host:queue, for each order.
-- Raises: QW002 if a worker of the box is alive.
create function qwf.forget_host(host text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_alive text;
  v_workers int;
  v_orders int;
begin
  if not exists (select from qwf.workers w where w.host = forget_host.host)
    and not exists (select from qwf.worker_controls c where c.host_label = forget_host.host) then
    raise notice using message = format('box %s has no worker and no order',
        left(forget_host.host, 200)),
      hint = coalesce(
        _qwf.did_you_mean(forget_host.host, array(select distinct w.host from qwf.workers w)),
        'the names of all boxes: select host from qwf.box_overview');
  end if;
  select f.worker into v_alive
  from qwf.worker_overview f
  where f.host = forget_host.host and f.state not in ('dead', 'stopped')
  limit 1;
  if found then
    raise exception using errcode = 'QW002', message = 'a worker of this box is alive',
      detail = format('host %s, worker %s', forget_host.host, v_alive),
      hint = 'stop its agents first: systemctl stop ''qwf-agent@*''';
  end if;
  perform qwf.deregister_worker(d.worker)
  from (
    select w.worker from qwf.worker_overview w
    where w.host = forget_host.host and not w.live and w.stopped_at is null
    order by w.worker
  ) d;
  get diagnostics v_workers = row_count;
  delete from qwf.worker_controls c where c.host_label = forget_host.host;
  get diagnostics v_orders = row_count;
  if v_workers + v_orders > 0 then
    insert into _qwf.event_log (at, kind, subject, detail)
    values (qwf.now(), 'host_forgotten', forget_host.host,
      jsonb_build_object('workers', v_workers, 'orders', v_orders));
  end if;
end $$;
comment on function qwf.forget_host is
  'Forgets a box that is gone: marks its dead workers as stopped, releases the jobs they held, and '
  'removes the orders for it. A notice names a box that is not known. QW002: one of its workers is '
  'alive.';
call _qwf.allow('qwf.forget_host', 'qwf_admin');
