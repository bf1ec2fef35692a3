-- 3 tests
select throws_ok($$ select qwf.claim('tpu', 'w') $$, 'QW006', 'unknown queue',
  'an empty answer would hide the mistake');
select throws_ok($$ select qwf.claim(null, 'w') $$, 'QW006', 'unknown queue',
  'no queue is no queue');
select qwf_test.explains($$ select qwf.claim('tpu', 'w') $$, '%tpu%cpu%',
  'the error names the queues there are');
