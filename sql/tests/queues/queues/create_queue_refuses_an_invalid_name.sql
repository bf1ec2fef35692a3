-- 8 tests
select throws_ok($$ select qwf.create_queue('Night') $$, 'QW005', 'invalid queue name', 'capitals');
select throws_ok($$ select qwf.create_queue('') $$, 'QW005', 'invalid queue name', 'empty');
select throws_ok($$ select qwf.create_queue('1st') $$, 'QW005', 'invalid queue name',
  'a digit first');
select throws_ok($$ select qwf.create_queue('a b') $$, 'QW005', 'invalid queue name', 'a blank');
select throws_ok($$ select qwf.create_queue(repeat('a', 64)) $$, 'QW005', 'invalid queue name',
  'too long');
select throws_ok('select qwf.create_queue(null)', 'QW005', 'invalid queue name', 'null');
select qwf_test.explains($$ select qwf.create_queue('Night') $$, '%Night%', 'the error names it');
select lives_ok($$ select qwf.create_queue('box-b.gpu_1') $$,
  'dots, dashes, underscores and digits are fine');
