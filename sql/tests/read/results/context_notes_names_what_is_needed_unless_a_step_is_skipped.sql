-- 6 tests
select qwf.register_pipeline('{"name": "upload", "nodes": [{"id": "send", "node": "send",
  "inputs": {"to": {"$from": "pipeline.to"}}}]}');
select qwf.register_workflow('{"name": "publish", "steps": [
  {"id": "ok", "kind": "input", "widget": "confirm", "prompt": "?", "target": "yes"},
  {"id": "up", "kind": "pipeline", "pipeline": "upload", "depends_on": ["ok"],
    "inputs": {"to": {"$from": "mail.to"}, "size": {"$from": "size", "$default": 1}},
    "skip_if": {"$from": "ok.yes", "$ne": true}}]}');
create temp table run as select qwf.enqueue_run('publish') as id;
create function pg_temp.needed(p_context jsonb) returns jsonb language sql as $$
  select qwf.context_notes(r.id, p_context) -> 'needed' from run r
$$;
select is(pg_temp.needed('{}'), '{"mail.to": "up"}', 'needed unless the answer skips it');
select is(pg_temp.needed('{"mail": {"size": 1}}'), '{"mail.to": "up"}', 'deep');
select is(pg_temp.needed('{"mail": {"to": null}}'), '{}', 'it is there');
select is(qwf.run_status(r.id) #>> '{run,status}', 'awaiting_input', 'the run goes on without it')
from run r;
select qwf.register_workflow('{"name": "by_context", "steps": [
  {"id": "up", "kind": "pipeline", "pipeline": "upload", "inputs": {"to": {"$from": "mail"}},
    "skip_if": {"$from": "quiet"}}]}');
select throws_ok($$ select qwf.enqueue_run('by_context', '{"quiet": false}') $$, 'QW005', null,
  'a skip_if on the context alone refuses');
create temp table quiet as select qwf.enqueue_run('by_context', '{"quiet": true}') as id;
select is(qwf.context_notes(q.id, '{"quiet": true}') - 'unused', '{"unread": {}, "needed": {}}',
  'or skips it for good') from quiet q;
