-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf_test.travel('1 h');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('a')])), 'ok',
  'late, but still the holder');
select is_empty('select _qwf.reclaim()', 'it keeps the job');
