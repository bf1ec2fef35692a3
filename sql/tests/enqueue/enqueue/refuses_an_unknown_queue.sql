-- 3 tests
select throws_ok($$ select qwf.enqueue('mail', queue => 'tpu') $$, 'QW006', 'unknown queue',
  'nobody would serve it');
select throws_ok($$ select qwf.enqueue('mail', queue => null) $$, 'QW006', 'unknown queue',
  'nor that');
select qwf_test.explains($$ select qwf.enqueue('mail', queue => 'tpu') $$, '%tpu%cpu%',
  'the error names those there are');
