-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.worker_control('box', 'gpu', 'off', until => '2026-01-01 13:00Z');
update qwf.worker_controls set reason = 'still hot';
select is((select until from qwf.worker_controls), '2026-01-01 13:00Z'::timestamptz,
  'one to come is kept');
select qwf_test.set_now('2026-01-01 14:00Z');
update qwf.worker_controls set desired_state = 'off';
select isnt_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$,
  'off again, without an end');
update qwf.worker_controls set until = '2026-01-01 15:00Z';
update qwf.worker_controls set desired_state = 'on';
select is((select until from qwf.worker_controls), null, 'on has no end');
