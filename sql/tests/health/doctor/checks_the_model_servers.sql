-- 6 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
create function pg_temp.is_in(p_server jsonb) returns setof text language sql as $$
  select qwf.heartbeat(w.id, stats => jsonb_build_object('servers',
    jsonb_build_array(p_server || '{"name": "vllm"}'))) from qwf.workers w;
  select pg_temp.finds('models');
$$;
create temp table worker as select qwf.register_worker('box-a', 'llm', '{"servers": [
  {"name": "vllm", "kind": "openai", "parallel": 8, "models": {"qwen": 1}}]}') as id;
select is(pg_temp.finds('models'), 'fine: Model servers work.', 'it is off');
select is(pg_temp.is_in('{"state": "broken", "error": "exit 1\nits log"}'),
  'problem: model server vllm on box-a is broken: exit 1 -> read the whole error: qwf servers '
  '--host box-a --json; correct it, then: qwf worker load qwen --host box-a --queue llm', 'broken');
select is(pg_temp.is_in('{"state": "gone"}'),
  'problem: model server vllm on box-a does not answer -> '
  'start it, or remove it from qwf.toml on box-a', 'gone');
select is(pg_temp.is_in('{"state": "failed", "error": "exit 1"}'),
  'note: model server vllm on box-a has failed: exit 1; it starts again soon -> '
  'qwf servers --host box-a', 'failed');
select is(pg_temp.is_in('{"state": "off", "lacks": {"qwen": "/qwen is missing: download it"}}'),
  'problem: model server vllm on box-a: /qwen is missing -> download it', 'without its model');
select qwf.heartbeat(w.id, stats => '{}') from worker w;
select qwf.register_worker('box-a', 'llm', '{"servers": [
  {"name": "vllm", "kind": "openai", "parallel": 8, "models": {"qwen": 1}}]}');
select matches(pg_temp.finds('models'), '^problem: box box-a: several workers run the same model '
  'servers \(vllm\), so each may load', 'two on one box');
