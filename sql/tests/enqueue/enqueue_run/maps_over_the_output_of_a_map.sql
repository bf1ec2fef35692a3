-- 4 tests
select qwf_test.workflow('w', '[
  {"id": "list", "inputs": {"items": [{"id": 1, "k": "a"}, {"id": 2}, {"id": 3, "k": "a"}]}},
  {"id": "each", "depends_on": ["list"],
   "map": {"$from": "list.items", "$filter": {"eq:k": "a"}},
   "inputs": {"me": {"$from": "item.id"}, "nth": {"$from": "index"},
     "found": {"$from": "list.items", "$filter": {"eq:id": {"$from": "item.id"}}}}},
  {"id": "again", "depends_on": ["each"], "map": {"$from": "each"},
   "inputs": {"k": {"$from": "item.found.0.k"}, "first": {"$from": "each.0.me"},
     "data": {"$value": {"$from": "item"}}}},
  {"id": "sum", "depends_on": ["again"],
   "inputs": {"all": {"$from": "again", "$filter": {"eq:k": "a"}}, "last": {"$from": "each.-1"}}}
  ]');
select qwf.enqueue_run('w');
select qwf_test.work() from generate_series(1, 4);
select is(qwf_test.run_state(), 'completed', 'to the end');
select is(j.output, '[{"me": 1, "nth": 0, "found": [{"id": 1, "k": "a"}]},
  {"me": 3, "nth": 1, "found": [{"id": 3, "k": "a"}]}]', 'elements, and what they look up')
from qwf.jobs j where j.id = qwf_test.job('s/each');
select is(j.output, '[{"k": "a", "first": 1, "data": {"$from": "item"}},
  {"k": "a", "first": 1, "data": {"$from": "item"}}]', 'of the list of outputs')
from qwf.jobs j where j.id = qwf_test.job('s/again');
select is(j.output, '{"all": [{"k": "a", "first": 1, "data": {"$from": "item"}},
    {"k": "a", "first": 1, "data": {"$from": "item"}}],
  "last": {"me": 3, "nth": 1, "found": [{"id": 3, "k": "a"}]}}', 'whole and by position')
from qwf.jobs j where j.id = qwf_test.job('s/sum');
