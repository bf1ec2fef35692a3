-- Deploy qwf:functions/workers/_check_server_choice
-- Purpose: Refuses to choose a model server that a host does not have, or to set anything for the
--   servers of a queue that has none there.
-- Guarantees: While no worker of the host serves the queue, takes anything: the box may come later.
-- Raises: QW005, naming the servers that the host has, or the queue where it has some.
-- Called by: tg_worker_controls__write.

begin;

create function _qwf.check_server_choice(p_host text, p_queue text, p_server text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[];
  v_elsewhere text;
begin
  select array_agg(distinct s.value ->> 'name') filter (where s.value is not null) into v_known
  from qwf.workers w
  cross join qwf.settings g
  left join lateral jsonb_array_elements(w.servers) s on true
  where w.host = p_host and w.queue = p_queue and w.stopped_at is null
    and w.last_seen > qwf.now() - g.worker_stale
  having count(*) > 0;
  if not found or p_server = any (v_known) or (p_server is null and v_known is not null) then
    return;
  end if;
  select string_agg(distinct s.queue, ', ') into v_elsewhere
  from qwf.server_overview s where s.host = p_host and s.queue <> p_queue;
  raise exception using errcode = 'QW005',
    message = case when v_known is null then 'no model servers there' else 'no such server' end,
    detail = format('host %L, queue %L', left(p_host, 200), left(p_queue, 200))
      || coalesce(', server ' || quote_literal(left(p_server, 200)), ''),
    hint = coalesce(_qwf.did_you_mean(p_server, v_known),
      'its servers are ' || array_to_string(v_known, ', '),
      'the model servers of this host serve queue ' || v_elsewhere,
      'its agent has no servers: add [[server]] to its qwf.toml');
end $$;

commit;
