-- 10 tests
select qwf.enqueue('mail');
select throws_ok($$
  select qwf.change_jobs(array(select generate_series(1, 1001)::bigint), priority => 1) $$,
  'QW005', 'too many jobs', 'more than 1000');
select throws_ok($$ select qwf.change_jobs('{1,null}', priority => 1) $$, 'QW005',
  'null is not the id of a job', 'a null');
select throws_ok($$ select qwf.change_jobs('{1}', queue => 'nope') $$, 'QW006', null,
  'an unknown queue');
select throws_ok($$ select qwf.change_jobs('{1}', run_at => '20000-01-01') $$, 'QW005',
  'invalid time', 'a time that no client can read');
select throws_ok($$ select qwf.change_jobs('{1}') $$, 'QW005', 'nothing to change', 'nothing');
select throws_ok($$ select qwf.change_jobs('{1}', run_next => null) $$, 'QW005',
  'nothing to change', 'null is nothing');
select throws_ok($$ select qwf.change_jobs('{1}', run_at => '2100-01-01', run_next => true) $$,
  'QW005', 'run_next excludes run_at', 'now and later');
select is_empty('select * from _qwf.event_log', 'nothing was changed');
select is_empty($$ select * from qwf.change_jobs('{}', priority => 1) $$,
  'an empty list is no error');
select is_empty($$ select * from qwf.change_jobs(null, priority => 1) $$, 'no list is none either');
