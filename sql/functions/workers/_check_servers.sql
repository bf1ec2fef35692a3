-- Deploy qwf:functions/workers/_check_servers
-- Purpose: Refuses model servers that the view server_overview could not show.
-- Raises: QW005, naming the first server that is wrong.
-- Called by: register_worker, update_worker.

begin;

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

commit;
