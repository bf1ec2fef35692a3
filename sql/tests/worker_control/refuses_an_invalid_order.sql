begin;
select plan(8);

select throws_ok($$ select qwf.worker_control('box', 'nope', 'off') $$, 'QW006');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'away') $$, 'QW005');
select throws_ok($$ select qwf.worker_control('box', 'gpu', null) $$, 'QW005');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'off', 'softly') $$, 'QW005');
select throws_ok($$ select qwf.worker_control('', 'gpu', 'off') $$, 'QW005');
select throws_ok($$ select qwf.worker_control(repeat('x', 501), 'gpu', 'off') $$, 'QW005');
select throws_ok($$ select qwf.worker_control('box', 'gpu', 'off', until => '2000-01-01Z') $$,
  'QW005');
select qwf_test.explains($$ select qwf.worker_control('box', 'gpu', 'away') $$,
  'host ''box'', state ''away'', policy ''hard''%', 'it names the values and what is allowed');

select * from finish();
rollback;
