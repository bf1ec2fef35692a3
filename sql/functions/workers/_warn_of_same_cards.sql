-- Deploy qwf:functions/workers/_warn_of_same_cards
-- Purpose: Warns who registers a worker that another live one uses the same card, or runs the same
--   model servers on its host: both would load their models on one card.
-- Guarantees: Only a warning, which the agent logs. Leaves out addresses, which several agents may
--   use, and earlier registrations of the same process.
-- Called by: register_worker.

begin;

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

commit;
