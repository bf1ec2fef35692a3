-- 2 tests
-- Calls each public function with bad values for each argument in turn. An invalid value raises a
-- QW... error whose hint says what to do; no error comes from deeper inside.
set local client_min_messages = error;
select qwf_test.set_now('2040-01-01');  -- later than other tests: what tick notes outlives this
select qwf.create_limit('l', 2);
select qwf_test.question('confirm'), qwf.enqueue('t'), qwf.register_worker('h', 'cpu');
create temp table odd as
select t.type, v.value
from (values
  ('integer', array['null', '-1', '0', '2147483647']),
  ('bigint', array['null', '-1', '0', '9223372036854775807']),
  ('real', array['null', '-1', '1e38', $$'NaN'$$, $$'infinity'$$]),
  ('boolean', array['null']),
  ('text', array['null', $$''$$, $$'a b'$$, $$E'\t\n'$$, $$'Ünïcode'$$, $$'.*['$$, $$'w1@-1'$$,
    $$'w1@99999999999999999999'$$, $$repeat('x', 20000)$$]),
  ('text[]', array['null', $$'{}'$$, $$'{NULL}'$$, $$'{{a,b},{c,d}}'$$]),
  ('integer[]', array['null', $$'{}'$$, $$'{NULL}'$$, $$'{-1,99}'$$, $$'{{1,2},{3,4}}'$$]),
  ('uuid', array['null', $$'ffffffff-ffff-ffff-ffff-ffffffffffff'$$]),
  ('uuid[]', array['null', $$'{}'$$, $$'{NULL}'$$, $$'{ffffffff-ffff-ffff-ffff-ffffffffffff}'$$]),
  ('interval', array['null', $$'-1 s'$$, $$'0 s'$$, $$'1000000 years'$$]),
  ('timestamp with time zone', array['null', $$'infinity'$$, $$'-infinity'$$, $$'294276-01-01'$$,
    $$'4713-01-02 BC'$$]),
  ('jsonb', array['null', $$'null'$$, $$'[]'$$, $$'{}'$$, $$'[null]'$$, $$'[1]'$$, $$'"x"'$$,
    $$'1e300'$$, $$'[[]]'$$, $$'{"a": null}'$$, $$'{"name": null}'$$, $$'[{"job_id": 1}]'$$,
    $$'[{"job_id": "x", "token": 7, "outcome": null}]'$$, $$'[{"task": "t", "priority": 1e300}]'$$,
    $$'{"base": 1e300}'$$, $$'{"base": 1, "factor": 1e300}'$$,
    $$'{"slots": 1e300, "vram_mb": "x", "labels": 7, "models": {}, "rank": 1e300, "pid": -1}'$$,
    $$'{"slots": null, "labels": null, "models": null, "tasks": null}'$$,
    $$'{"slots": "2", "labels": [], "models": [1, null], "tasks": [[]]}'$$,
    $$'{"name": "x", "nodes": 7}'$$, $$'{"name": "x", "steps": {}}'$$,
    $$'{"name": "x", "nodes": [7, null, {"id": 7}, {"id": "a", "map": 7, "max_parallel": 1e300,
      "min_success": "1e300%", "retry": 7, "timeout": [], "vram_mb": 1e300, "requires": 7,
      "limit_by": 7, "run_if": 7, "command": 7, "on_failure": 7, "skip_if": 7, "inputs": 7}]}'$$,
    $$'{"name": "x", "deadline": {}, "steps": [7, null, {"id": 7}, {"id": "a", "kind": 7},
      {"id": "b", "kind": "input", "widget": 7, "expires": [], "options": 7, "default": {}}]}'$$])
) t (type, "values")
cross join lateral unnest(t."values") v (value);

create function pg_temp.usual(p_name text, p_type text) returns text
language sql
as $$
  select coalesce(
    jsonb '{"queue": "''cpu''", "workflow": "''question''", "task": "''t''", "host": "''h''",
      "name": "''l''", "node_id": "''ask''", "outcome": "''completed''", "state": "''on''",
      "worker": "(select min(id) from qwf.workers)", "job_id": "(select min(id) from qwf.jobs)",
      "run_id": "(select min(id) from qwf.runs)"}' ->> case when p_type <> 'jsonb' then p_name end,
    jsonb '{"text": "''x''", "jsonb": "''{}''", "bigint": "1", "integer": "1", "boolean": "true",
      "uuid": "''00000000-0000-0000-0000-000000000000''"}' ->> p_type,
    'null')
$$;

create function pg_temp.call(p_function pg_proc, p_odd int, p_value text) returns text
language sql
as $$
  select format('select * from qwf.%I(%s)', p_function.proname, string_agg(
    format('%I => %s::%s', p_function.proargnames[i],
      case when i = p_odd then p_value else pg_temp.usual(p_function.proargnames[i], t.name) end,
      t.name), ', '))
  from generate_series(1, p_function.pronargs) i
  cross join lateral format_type(p_function.proargtypes[i - 1], null) t (name)
  where i = p_odd or i <= p_function.pronargs - p_function.pronargdefaults
$$;

create function pg_temp.answer(p_sql text) returns text
language plpgsql
as $$
declare
  v_hint text;
begin
  execute p_sql;
  return 'fine';
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return case when sqlstate like 'QW%' and v_hint <> '' then 'refused'
      else sqlstate || ' ' || sqlerrm end;
end $$;

create temp table tried as
select c.call, pg_temp.answer(c.call) as answer
from pg_proc p
cross join lateral generate_series(1, p.pronargs) i
join odd o on o.type = format_type(p.proargtypes[i - 1], null)
cross join lateral (select pg_temp.call(p, i, o.value)) c (call)
where p.pronamespace = 'qwf'::regnamespace and p.prokind = 'f';
select is_empty($$ select call, answer from tried where answer not in ('fine', 'refused') $$,
  'whatever is given is taken, or refused with a hint');
select cmp_ok((select count(*) from tried where answer = 'refused'), '>', 500::bigint,
  'which was tried');
