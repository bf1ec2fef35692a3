-- 2 tests
select qwf.create_limit('customer-' || n, 1) from generate_series(1, 51) n;
select qwf.register_worker('box', 'cpu', '{}');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer-' || n) from generate_series(1, 50) n;
select is((select d.level from qwf.doctor('{queues}') d), 'fine', 'fifty limits are fine');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer-51');
select is((select d.says || ' -> ' || d.hint from qwf.doctor('{queues}') d),
  'jobs of more than 50 limits wait in queue cpu: each claim looks at all of them -> '
  'limits of one kind are one limit that counts by key: qwf limit create NAME N --keyed',
  'more are not');
