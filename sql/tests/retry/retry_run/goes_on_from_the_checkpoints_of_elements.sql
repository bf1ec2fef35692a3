-- 3 tests
select qwf_test.workflow('w', '[{"id": "a", "map": {"$value": [1, 2]}}]');
select qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 2);
select qwf.progress(j.id, j.token, checkpoint => jsonb_build_object('n', j.element))
from qwf.jobs j where j.element is not null;
select qwf_test.report('s/a[0]', 'fatal', error => 'boom'),
  qwf_test.report('s/a[1]', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run());
select results_eq('select checkpoint from qwf.claim(''cpu'', ''w'', 2)', $$
  values (jsonb '{"n": 0}'), ('{"n": 1}') $$, 'each element goes on from its own');
select qwf_test.report('s/a[0]', 'fatal', error => 'boom'),
  qwf_test.report('s/a[1]', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run(), 's/a[0]');
select results_eq('select checkpoint from qwf.claim(''cpu'', ''w'', 2)', $$
  values (null::jsonb), ('{"n": 1}') $$, 'one that is named begins anew');
select qwf_test.report('s/a[0]', 'fatal', error => 'boom'),
  qwf_test.report('s/a[1]', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run(), 's/a');
select is_empty('select * from qwf.checkpoints', 'and so do all elements of a map that is named');
