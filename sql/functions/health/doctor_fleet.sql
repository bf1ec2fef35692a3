-- Checks of boxes, workers and model servers.

-- Finds workers that are gone, switched off, withdrawn, without a task or model that they should
-- have, or not of this version.
create function _qwf.doctor_workers() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'worker ' || d.worker,
      format('worker %s has been silent for %s%s', d.worker,
        _qwf.spell_duration(date_trunc('second', d.last_seen)),
        case when d.running > 0 then ' and holds ' || _qwf.counted(d.running, 'job') end),
      format('look at box %s: systemctl status ''qwf-agent@*''; if it is gone for good, it is '
        'forgotten after a day, or now: qwf worker forget %s', d.host, d.worker))::_qwf.finding
    from qwf.worker_overview d
    where d.state = 'dead'
    order by d.worker));
  return query
  select 'note', 'box ' || o.host, format('%s %s is switched off by %s%s', o.host, o.queue,
      _qwf.spell_who(o.login, o.acting_for), ': ' || nullif(o.reason, '')),
    format('qwf worker on --host %1$s --queue %2$s; if the box is gone for good: qwf worker forget '
      '--host %1$s --all', o.host, o.queue)
  from qwf.switched_off o
  where not exists (select from qwf.workers w where w.id = o.acting_for and w.host = o.host)
  order by o.host, o.queue;
  return query  -- by its own workers
  select 'problem', 'box ' || o.host, format('%s has withdrawn from %s: %s', o.host,
      string_agg(distinct o.queue, ', ' order by o.queue), o.reason),
    format('mend it, then: qwf worker on --host %s --all; by itself it tries again at %s', o.host,
      _qwf.spell_moment(max(o.until)))
  from qwf.switched_off o
  join qwf.workers w on w.id = o.acting_for and w.host = o.host
  group by o.host, o.reason
  order by o.host, o.reason;
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'worker ' || f.worker, format('worker %s takes no jobs of %s: %s',
        f.worker, d.key, left(d.value #>> '{}', 300)),
      format('mend it on box %s: the agent tries again after five minutes, and when its code '
        'changes', f.host))::_qwf.finding
    from qwf.worker_overview f
    join qwf.workers w on w.id = f.worker
    cross join lateral jsonb_each(case when jsonb_typeof(w.stats -> 'withdrawn') = 'object'
      then w.stats -> 'withdrawn' else '{}' end) d
    where f.state not in ('dead', 'stopped')
    order by f.worker, d.key));
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'worker ' || f.worker, format('worker %s keeps running old code, because '
        'its new code cannot be imported: %s', f.worker, w.stats ->> 'code_problem'),
      format('mend the code on box %s: the agent tries again by itself', f.host))::_qwf.finding
    from qwf.worker_overview f
    join qwf.workers w on w.id = f.worker
    where f.state not in ('dead', 'stopped') and w.stats ? 'code_problem'
    order by f.worker));
  return query
  select 'note', 'version ' || f.version, format('version %s runs on %s; the schema is %s',
      f.version, string_agg(distinct f.host, ', ' order by f.host), qwf.version()),
    'upgrade them one box at a time: docs/operations.md, Upgrade'
  from qwf.worker_overview f
  where f.state not in ('dead', 'stopped') and f.version <> qwf.version()
  group by f.version
  order by f.version;
end $$;

-- Finds model servers that do not work, and cards that several agents use.
create function _qwf.doctor_models() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'server ' || s.server, _qwf.server_failure(s), case s.state
      when 'gone' then format('start it, or remove it from qwf.toml on %s', s.host)
      else format('read the whole error: qwf servers --host %1$s --json; correct it, then: '
        'qwf worker load %2$s --host %1$s --queue %3$s', s.host,
        coalesce(s.model, s.models[1], 'MODEL'), s.queue) end)::_qwf.finding
    from qwf.server_overview s
    where s.state in ('broken', 'gone')
    order by s.host, s.queue, s.server));
  return query
  select 'note', 'server ' || s.server, _qwf.server_failure(s) || '; it starts again soon',
    'qwf servers --host ' || s.host
  from qwf.server_overview s
  where s.state = 'failed'
  order by s.host, s.queue, s.server
  limit 5;
  return query  -- what the agent says ends with what to do
  select * from _qwf.first_few(array(
    select row('problem', 'server ' || s.server, format('model server %s on %s: %s', s.server,
        s.host, _qwf.one_line(split_part(l.value, ': ', 1))),
      substr(l.value, length(split_part(l.value, ': ', 1)) + 3))::_qwf.finding
    from qwf.server_overview s
    cross join lateral jsonb_each_text(s.lacks) l
    where s.state <> 'not chosen'
    order by s.host, s.server, l.key));
  return query  -- addresses may be used by several agents
  select * from _qwf.first_few(array(
    select row('problem', 'box ' || t.host, format('box %s: several workers run the same model '
        'servers (%s), so each may load a model on the same card', t.host,
        string_agg(t.server, ', ' order by t.server)),
      'stop one of the agents, or give each its own qwf.toml (QWF_CONFIG)')::_qwf.finding
    from (
      select s.host, s.server from qwf.server_overview s
      where not s.external
      group by s.host, s.server
      having count(*) > 1) t
    group by t.host
    order by t.host));
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'card ' || c.card, format('card %s is used by several agents (%s), and '
        'each may load a model on it', c.card, c.agents),
      'stop one of the agents, or give each other cards: --gpu N')::_qwf.finding
    from (
      select k.card, string_agg(distinct w.host || coalesce(' pid ' || w.pid, ''), ', ') as agents
      from qwf.workers w cross join qwf.settings s cross join lateral unnest(w.cards) k (card)
      where w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
      group by k.card
      having count(distinct (w.host, w.pid)) > 1) c
    order by c.card));
end $$;

-- Returns the name of a model server, its trouble, and the first line of its error.
create function _qwf.server_failure(p_server qwf.server_overview) returns text
language sql immutable parallel safe
as $$
  select format('model server %s on %s %s%s', p_server.server, p_server.host,
    case p_server.state when 'gone' then 'does not answer' when 'failed' then 'has failed'
      else 'is broken' end,
    ': ' || nullif(_qwf.one_line(split_part(p_server.error, E'\n', 1)), ''))
$$;
