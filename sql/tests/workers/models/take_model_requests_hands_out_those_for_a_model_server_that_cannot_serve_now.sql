-- 2 tests
create temp table who as
  select qwf.register_worker('box', 'llm', '{"models": [], "servers": [{"name": "vllm",
    "kind": "openai", "external": false, "parallel": 8, "models": {"qwen3-8b": null}}]}') as one,
    qwf.register_worker('box', 'llm', '{"models": []}') as without;
select qwf.request_model('box', 'llm', 'qwen3-8b');

select is_empty($$ select r.* from who, qwf.take_model_requests(without) r $$,
  'a worker that has no such server');
select results_eq($$ select r.action, r.model from who, qwf.take_model_requests(one) r $$,
  $$ values ('load', 'qwen3-8b') $$, 'a broken server is tried again by order');
