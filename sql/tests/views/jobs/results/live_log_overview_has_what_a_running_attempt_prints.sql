-- 3 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.follow_log(qwf_test.job('a'));
select qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 6, E'one\ntw');
select results_eq('select job_id, attempt, end_offset, tail, sent from qwf.live_log_overview',
  $$ values (qwf_test.job('a'), 1, 6::bigint, E'one\ntw', true) $$, 'its end, while it is sent');
select qwf_test.travel('11 s');
select results_eq('select tail, sent from qwf.live_log_overview',
  $$ values (E'one\ntw', false) $$, 'and after that');
select qwf_test.report('a', 'lost');
select is_empty('select from qwf.live_log_overview', 'not after the attempt');
