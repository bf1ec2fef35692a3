-- 13 tests
-- A training tracks its loss: the last report counts, also the one that comes just after its end.
-- Each attempt has its own numbers, and a worker that lost the job changes none of them.
select qwf.enqueue('a', max_losses => 3);
select qwf.claim('default', 'w');
create temp table old as select qwf_test.job('a') as id, qwf_test.token('a') as token;
select is(qwf.progress(id, token, series => '{"names": {"loss": {"points": [[1, 0.9]]}}}'), 'ok',
  'kept') from old;
select is(qwf.progress(id, token, 0.5, 'half',
  '{"epoch": 1}', '{"names": {"loss": {"points": [[1, 0.9], [2, null]], "reported": 9},
    "acc": {"points": []}}, "left_out": 2}'), 'ok', 'with all that travels beside it') from old;
select results_eq('select name, attempt, points, reported, last_step, left_out
  from qwf.series_overview order by name', $$ values
  ('acc', 1, jsonb '[]', 0::bigint, null::jsonb, 2),
  ('loss', 1, jsonb '[[1, 0.9], [2, null]]', 9::bigint, jsonb '2', 2) $$, 'the last report counts');
select results_eq('select progress, progress_message, checkpoint from qwf.job_details',
  $$ values (0.5::real, 'half', jsonb '{"epoch": 1}') $$, 'nothing else is lost');
select qwf_test.lapse('a');
select is(qwf.progress(id, token, series => '{"names": {"loss": {"points": [[3, 0.3]]}}}'), 'lost',
  'the attempt is over') from old;
select results_eq('select points from qwf.series_overview', $$ values (jsonb '[[3, 0.3]]') $$,
  'but its last numbers are kept, as nobody has begun another attempt');
select qwf.claim('default', 'v');
select is(qwf.progress(id, token, series => '{"names": {"x": {"points": [[4, 1]]}}}'), 'lost',
  'a stale token') from old;
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'),
  series => '{"names": {"loss": {"points": [[5, 0.1]]}}}'), 'ok', 'the next attempt');
select results_eq('select attempt, name, points from qwf.series_overview order by attempt',
  $$ values (1, 'loss', jsonb '[[3, 0.3]]'), (2, 'loss', jsonb '[[5, 0.1]]') $$,
  'each has its own');
select qwf_test.report('a');
select is_empty('select * from qwf.check_invariants()', 'all is well');
select qwf.erase('{"task": "a"}', '{output}');
select is_empty('select * from qwf.series_overview', 'erased with the output');
select qwf.progress(qwf_test.job('a'), token,
  series => '{"names": {"loss": {"points": [[5, 0.1]]}}}')
from qwf.job_attempts where attempt = 2;
select is_empty('select * from qwf.series_overview', 'and nothing comes back');
insert into qwf.attempt_series values (qwf_test.job('a'), 1, null, qwf.now(), '{}', 0);
select qwf_test.travel('400 days'), qwf.prune();
select is_empty('select * from qwf.attempt_series', 'deleted with the job');
