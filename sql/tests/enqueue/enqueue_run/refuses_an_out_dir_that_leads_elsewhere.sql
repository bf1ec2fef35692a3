-- 13 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
create function pg_temp.into(text) returns bigint language sql as $$
  select qwf.enqueue_run('w', out_dir => $1) $$;
select throws_ok($$ select pg_temp.into('../../etc') $$, 'QW005', 'invalid run', 'out at the top');
select throws_ok($$ select pg_temp.into('/data/../etc') $$, 'QW005', 'invalid run', 'out inside');
select throws_ok($$ select pg_temp.into('/data/..') $$, 'QW005', 'invalid run', 'out at the end');
select throws_ok($$ select pg_temp.into(E'/data/a\nb') $$, 'QW005', 'invalid run', 'two lines');
select throws_ok($$ select pg_temp.into('/' || repeat('a', 4096)) $$, 'QW005', 'invalid run',
  'longer than a path can be');
select qwf_test.explains($$ select pg_temp.into('..') $$, 'out_dir:%', 'the error names it');
select throws_ok($$ select pg_temp.into('jobs/x') $$, 'QW005', 'invalid run', 'into those of jobs');
select throws_ok($$ select pg_temp.into('./2026') $$, 'QW005', 'invalid run', 'into that of a run');
select throws_ok($$ select pg_temp.into('a/7/b') $$, 'QW005', 'invalid run', 'also further in');
select lives_ok($$ select pg_temp.into('/archive/2026') || pg_temp.into('a/jobs/day-7')::text $$,
  'names that are none of ours');
select lives_ok($$ select pg_temp.into('/data/..hidden/a..b/...') $$, 'dots are not a way out');
select lives_ok($$ select pg_temp.into('~/Bilder für Ada') $$, 'a home, blanks and umlauts');
select is((select count(*)::int from qwf.runs), 4, 'nothing else was written');
