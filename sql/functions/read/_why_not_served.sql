-- Deploy qwf:functions/read/_why_not_served
-- Purpose: Says why a worker does not offer a model that one of its model servers could serve.
-- Guarantees: Null if none of its servers has the model. What the server says of this model comes
--   before its state. Of its error, the first line.
-- Called by: _why_unfit_for.

begin;

create function _qwf.why_not_served(p_model text, p_worker qwf.workers) returns text
language sql stable
as $$
  select format('its server %s could serve %s, but %s', s.server, p_model, coalesce(
    left(s.lacks ->> p_model, 300),
    'is ' || s.state || coalesce(': ' || left(split_part(s.error, E'\n', 1), 300), '')))
  from qwf.server_overview s
  where s.worker = p_worker.id and p_model = any (s.models)
  order by s.server
  limit 1
$$;

commit;
