begin;
select plan(7);

select throws_ok($$ select qwf.enqueue('mail', max_attempts => 0) $$, 'QW005', 'invalid job',
  'no try');
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
select qwf_test.explains($$ select qwf.enqueue('mail', max_attempts => 0) $$, 'max_attempts:%',
  'the error names it');

select * from finish();
rollback;
