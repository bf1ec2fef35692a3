-- 3 tests
select matches(p, '^steps\[1\]\.at_most_once: belongs to a node of a pipeline',
  'a run is tried by its nodes')
from qwf_test.step_problems('{"kind": "workflow", "workflow": "other", "at_most_once": true}') p
where p like '%at_most_once%';
select matches(p, '^steps\[1\]\.at_most_once: belongs to a node of a pipeline',
  'nor for a pipeline as a whole')
from qwf_test.step_problems('{"kind": "pipeline", "pipeline": "p", "at_most_once": true}') p
where p like '%at_most_once%';
select is_empty($$ select p from qwf_test.step_problems('{"node": "t", "at_most_once": true}') p
  where p like '%at_most_once%' $$, 'but a node may say it');
