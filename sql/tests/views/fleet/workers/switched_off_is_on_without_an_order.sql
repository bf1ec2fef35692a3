-- 2 tests
select is_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$, 'no row');
select qwf.worker_control('box', 'cpu', 'off'), qwf.worker_control('other', 'gpu', 'off');
select is_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$,
  'an order for another queue or host does not count');
