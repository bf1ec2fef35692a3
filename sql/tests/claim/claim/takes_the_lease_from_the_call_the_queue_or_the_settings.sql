-- 3 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select is((select lease_expires_at - qwf.now() from qwf.claim('default', 'w')), '30 s',
  'the setting');
select qwf.create_queue('default', lease => '50 s');
select is((select lease_expires_at - qwf.now() from qwf.claim('default', 'w')), '50 s',
  'over it the queue''s');
select is((select lease_expires_at - qwf.now() from qwf.claim('default', 'w', lease => '70 s')),
  '70 s', 'over both the call''s');
