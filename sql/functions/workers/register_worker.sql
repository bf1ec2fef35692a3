-- Deploy qwf:functions/workers/register_worker
-- Purpose: Registers an agent process on a queue, with what it can do.
-- Guarantees: Gives a new id at every start. Its code may be new: a task of it that is held back is
--   tried with one job. claim filters by the announced tasks, models, VRAM,
--   labels and project. Warns of another live worker with the same model servers or card.
-- Raises: QW002 if 10,000 workers are live, QW005 for info that is malformed, larger than 64 KiB or
--   has an unknown key, QW006 for an unknown queue.

begin;

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
  'follows_orders (true: it reads worker_orders() and gives its jobs back by itself when it is off '
  'hard), writes_begun (true: it calls progress(begun => true) before the body of a job that runs '
  'at most once); QW005 for another key, QW006 for an unknown queue.';
call _qwf.allow('qwf.register_worker', 'qwf_worker');

commit;
