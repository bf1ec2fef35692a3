-- 2 tests
select throws_ok($$
  select qwf.enqueue_many('[{"task": "a"}, {"task": "b", "priority": "high"}]')
$$, 'QW005', 'invalid job', 'all or none');
select is_empty('select * from qwf.jobs', 'none');
