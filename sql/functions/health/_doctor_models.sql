-- Deploy qwf:functions/health/_doctor_models
-- Purpose: Finds model servers that do not work, and cards that several agents use.
-- Called by: _doctor_findings.

begin;

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

commit;
