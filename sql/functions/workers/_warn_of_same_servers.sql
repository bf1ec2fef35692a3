-- Deploy qwf:functions/workers/_warn_of_same_servers
-- Purpose: Warns who registers a worker that another live one of its host runs the same model
--   servers: both would load their models on the same card.
-- Guarantees: Only a warning, which the agent logs. Leaves out addresses, which several agents may
--   use, and earlier registrations of the same process.
-- Called by: register_worker.

begin;

create function _qwf.warn_of_same_servers(p_worker text, p_now timestamptz) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_other text;
  v_names text;
begin
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

commit;
