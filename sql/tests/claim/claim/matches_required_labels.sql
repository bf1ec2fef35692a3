-- 4 tests
select qwf.enqueue('fast', requires => '{"disk": "nvme"}'),
  qwf.enqueue('here', requires => '{"host": "box-b"}');
select is(qwf_test.claim('default', 9), 'claimed nothing',
  'a worker without labels meets no requirement');
select is_empty($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box-a', 'default', '{"labels": {"disk": "hdd"}}'),
    9) c
$$, 'nor does one with other labels');
select results_eq($$
  select c.task
  from qwf.claim('default',
    qwf.register_worker('box-a', 'default', '{"labels": {"disk": "nvme", "rack": 3}}'), 9) c
$$, $$ values ('fast') $$, 'labels may be more than is required');
select results_eq($$
  select c.task from qwf.claim('default', qwf.register_worker('box-b', 'default'), 9) c
$$, $$ values ('here') $$, 'host is always a label');
