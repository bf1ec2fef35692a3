-- 5 tests
select qwf.enqueue('mail', run_at => '2100-01-01');
create function pg_temp.move(timestamptz) returns void language sql as $$
  select qwf.change_job(qwf_test.job('mail'), run_at => $1) $$;
select throws_ok($$ select pg_temp.move('20000-01-01') $$, 'QW005', 'invalid time', 'too late');
select throws_ok($$ select pg_temp.move('0044-03-15 BC') $$, 'QW005', 'invalid time', 'too early');
select qwf_test.explains($$ select pg_temp.move('20000-01-01') $$, 'run_at:%', 'it is named');
select is(run_at, timestamptz '2100-01-01', 'nothing changed') from qwf.jobs;
select lives_ok($$ select pg_temp.move('infinity') $$, 'forever is a time');
