-- Defines what the life of tests/security/test_caller_settings.py needs: limits, a queue, definitions that
-- use most of the language, and two schedules.
select qwf.create_limit('llm', 2);
select qwf.create_queue('cpu', max_running => 5);
select qwf.register_pipeline($${"name": "p",
  "inputs": {"type": "object", "required": ["who"], "properties": {
    "n": {"type": "integer", "default": 4}, "who": {"type": "string", "maxLength": 5}}},
  "nodes": [
    {"id": "a", "inputs": {"n": {"$from": "pipeline.n"}}, "timeout": "1 day 2:03:04.5",
      "skip_if": {"$from": "pipeline.who", "$eq": "skip"},
      "retry": {"max_attempts": 2, "backoff": [0]}},
    {"id": "m", "depends_on": ["a"], "map": {"$from": "a.list"}, "max_parallel": 2,
      "inputs": {"x": {"$from": "item.v"}, "i": {"$from": "index"}}, "min_success": "60%",
      "limit_by": "llm"},
    {"id": "s", "depends_on": ["m"], "skip_if": {"$from": "a.n", "$eq": 4}, "inputs": {}},
    {"id": "f", "depends_on": ["a"], "on_failure": "continue",
      "inputs": {"l": {"$from": "a.list", "$filter": {"matches:t": "^\\d+$"}}}},
    {"id": "e", "depends_on": ["m", "f", "s"],
      "inputs": {"all": {"$from": "m"}, "f": {"$from": "f.z", "$default": "none"}}},
    {"id": "c", "depends_on": ["e"], "run_if": "all_done"}]}$$);
select qwf.register_workflow($${"name": "w", "deadline": "2 hours", "steps": [
  {"id": "ask", "kind": "input", "widget": "number", "min": 1, "target": "n",
    "expires": "1 day 1:00"},
  {"id": "s", "kind": "pipeline", "pipeline": "p", "depends_on": ["ask"],
    "inputs": {"n": {"$from": "ask.n"}, "who": {"$from": "who"}}}]}$$);
select qwf.create_schedule('nightly', task => 't', cron => '30 3 * * 1-5',
  timezone => 'Europe/Berlin');
select qwf.create_schedule('often', task => 't', every => '37 min');
