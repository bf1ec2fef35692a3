-- 13 tests
create function pg_temp.hint_of(p_statement text) returns text language plpgsql as $$
declare
  v_hint text;
begin
  execute p_statement;
  return null;
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return v_hint;
end $$;

select qwf.register_worker('box', 'llm', '{"servers": [
  {"name": "vllm", "kind": "openai", "parallel": 8, "models": {"qwen": 9500}},
  {"name": "llama", "kind": "openai", "parallel": 1, "models": {"tiny": null}}]}');
select qwf.register_worker('plain', 'llm');
select throws_ok($$ select qwf.configure_server('box', 'llm', 'vlm') $$, 'QW005',
  'no such server', 'a server that the host does not have');
select is(pg_temp.hint_of($$ select qwf.configure_server('box', 'llm', 'vlm') $$),
  'did you mean vllm?', 'it names the one that is meant');
select is(pg_temp.hint_of($$ select qwf.configure_server('box', 'llm', 'zzzzzz') $$),
  'its servers are llama, vllm', 'or all');
select is(pg_temp.hint_of($$ select qwf.configure_server('plain', 'llm', 'vllm') $$),
  'its agent has no servers: add [[server]] to its qwf.toml', 'or says what to do');
select throws_ok($$ insert into qwf.worker_controls (host_label, queue, server)
  values ('box', 'llm', 'sglang') $$, 'QW005', 'no such server', 'also by a plain statement');
select throws_ok($$ select qwf.configure_server('plain', 'llm', parallel => 2) $$, 'QW005',
  'no model servers there', 'requests at once of no server');
select qwf.register_worker('box', 'cpu');
select throws_ok($$ select qwf.configure_server('box', 'cpu', idle => '1 min') $$, 'QW005',
  'no model servers there', 'another queue of a host that has servers');
select is(pg_temp.hint_of($$ select qwf.configure_server('box', 'cpu', parallel => 2) $$),
  'the model servers of this host serve queue llm', 'it names the right queue');
select lives_ok($$ select qwf.configure_server('box', 'cpu') $$, 'to set all back');
select lives_ok($$ select qwf.configure_server('box', 'llm', parallel => 2) $$,
  'all servers of a host that has some');
select lives_ok($$ select qwf.configure_server('new', 'llm', 'sglang') $$,
  'a box that is not there yet');
select throws_ok($$ select qwf.configure_server('box', 'llm', parallel => 0) $$, 'QW005',
  'invalid server', 'no place at all');
select throws_ok($$ select qwf.configure_server('box', 'lm') $$, 'QW006', null, 'unknown queue');
