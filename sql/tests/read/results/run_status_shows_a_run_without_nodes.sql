select qwf.register_workflow('{"name": "empty", "steps": []}');
select qwf.enqueue_run('empty');
select results_eq($$ select s -> 'nodes', s #>> '{run,status}'
from qwf.run_status(qwf_test.run()) s $$, $$
  values ('[]'::jsonb, 'completed') $$, 'an empty list');
