-- Deploy qwf:functions/workers/_check_server_choice
-- Purpose: Refuses to choose a model server that a host does not have.
-- Guarantees: While no worker of the host serves the queue, takes any name: the box may come later.
-- Raises: QW005, naming the servers that the host has.
-- Called by: tg_worker_controls__write.

begin;

create function _qwf.check_server_choice(p_host text, p_queue text, p_server text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[];
begin
  select array_agg(distinct s.value ->> 'name') filter (where s.value is not null) into v_known
  from qwf.workers w
  cross join qwf.settings g
  left join lateral jsonb_array_elements(w.servers) s on true
  where w.host = p_host and w.queue = p_queue and w.stopped_at is null
    and w.last_seen > qwf.now() - g.worker_stale
  having count(*) > 0;
  if found and (p_server = any (v_known)) is not true then
    raise exception using errcode = 'QW005', message = 'no such server',
      detail = format('host %L, queue %L, server %L',
        left(p_host, 200), left(p_queue, 200), left(p_server, 200)),
      hint = coalesce(_qwf.did_you_mean(p_server, v_known),
        'its servers are ' || array_to_string(v_known, ', '),
        'its agent has no servers: add [[server]] to its qwf.toml');
  end if;
end $$;

commit;
