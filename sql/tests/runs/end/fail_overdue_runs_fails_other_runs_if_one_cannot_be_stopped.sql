-- 3 tests
select qwf.register_pipeline(format('{"name": "%s", "nodes": [{"id": "a"},
  {"id": "b", "depends_on": ["a"]}]}', n)::jsonb)
from unnest('{bad,good}'::text[]) n;
select qwf.register_workflow(format('{"name": "%1$s", "deadline": "1 h", "steps": [
  {"id": "%1$s", "kind": "pipeline", "pipeline": "%1$s"}]}', n)::jsonb)
from unnest('{bad,good}'::text[]) n;
select qwf.enqueue_run('bad'), qwf.enqueue_run('good');
select qwf_test.jam('bad/b', true), qwf_test.travel('1 h');
select is(qwf.tick() -> 'errors', null, 'a tick takes it calmly');
select is(qwf_test.state('good/a'), 'cancelled', 'the other run is stopped');
select is((select string_agg(status::text, ' ') from qwf.runs), 'failed failed', 'both are over');
