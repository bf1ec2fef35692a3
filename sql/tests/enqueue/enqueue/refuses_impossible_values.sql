-- 12 tests
select throws_ok($$ select qwf.enqueue('mail', max_attempts => 0) $$, 'QW005', 'invalid job',
  'no try');
select throws_ok($$ select qwf.enqueue('mail', max_losses => 0) $$, 'QW005', 'invalid job',
  'lost before it starts');
select throws_ok($$ select qwf.enqueue('mail', timeout => '0 s') $$, 'QW005', 'invalid job',
  'no time');
select throws_ok($$ select qwf.enqueue('mail', timeout => '3000000 years') $$, 'QW005',
  'invalid job', 'more time than a worker can count');
select throws_ok($$ select qwf.enqueue('mail', vram_mb => -1) $$, 'QW005', 'invalid job',
  'less than no memory');
select throws_ok($$ select qwf.enqueue('mail', requires => '["gpu"]') $$, 'QW005', 'invalid job',
  'no labels');
select throws_ok($$ select qwf.enqueue('mail', labels => '7') $$, 'QW005', 'invalid job',
  'no tags');
select throws_ok($$ select qwf.enqueue('mail', expires => '1000000 years') $$, 'QW005',
  'invalid job', 'later than any calendar');
select throws_ok($$ select qwf.enqueue('mail', run_at => '290000-01-01', expires => '900 years') $$,
  'QW005', 'invalid job', 'nor a sum of two');
select throws_ok($$ select qwf.enqueue_many('[{"task": "t", "expires": "1000000 years"}]') $$,
  'QW005', 'invalid job', 'nor in a list');
select lives_ok($$ select qwf.enqueue('mail', run_at => 'infinity', expires => '9 years') $$,
  'what waits forever may');
select qwf_test.explains($$ select qwf.enqueue('mail', max_attempts => 0) $$, 'max_attempts:%',
  'the error names it');
