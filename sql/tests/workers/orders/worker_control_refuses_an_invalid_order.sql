-- 11 tests
select throws_ok($$ select qwf.worker_control('box', 'nope', 'off') $$, 'QW006');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'away') $$, 'QW005');
select throws_ok($$ select qwf.worker_control('box', 'gpu', null) $$, 'QW005');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'off', 'softly') $$, 'QW005');
select throws_ok($$ select qwf.worker_control('', 'gpu', 'off') $$, 'QW005');
select throws_ok($$ select qwf.worker_control(repeat('x', 501), 'gpu', 'off') $$, 'QW005');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'off', until => '2000-01-01Z') $$,
  'QW005');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'off', until => 'infinity') $$,
  'QW005', 'invalid end of an order', 'infinity is no date');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'off', until => '10000-01-01Z') $$,
  'QW005', 'invalid end of an order', 'nor is a year that drivers cannot read');
select lives_ok($$ select qwf.worker_control('box', 'gpu', 'off', until => '9999-12-31Z') $$,
  'the last year that they can');
select qwf_test.explains($$ select qwf.worker_control('box', 'gpu', 'away') $$,
  'host ''box'', state ''away'', policy ''hard''%', 'it names the values and what is allowed');
