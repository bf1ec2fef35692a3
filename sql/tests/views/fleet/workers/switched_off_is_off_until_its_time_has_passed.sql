-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.worker_control('box', 'gpu', 'off', until => '2026-01-01 13:00Z');
select isnt_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$,
  'before');
select qwf_test.set_now('2026-01-01 13:00Z');
select is_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$,
  'then it is on by itself');
select qwf.worker_control('box', 'gpu', 'off');
select isnt_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$,
  'without an end it stays off');
