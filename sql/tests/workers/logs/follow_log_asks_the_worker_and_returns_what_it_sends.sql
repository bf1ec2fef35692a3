-- 7 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select is(qwf.follow_log(qwf_test.job('a')),
  row('running', 1, null, null, null, null, null)::qwf.live_log,
  'nothing has arrived yet');
select is((select count(*) from qwf.live_logs), 1::bigint, 'the request is stored');
select ok(qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 6, E'one\ntw'), 'sent');
select is(qwf.follow_log(qwf_test.job('a')),
  row('running', 1, 6, E'one\ntw', null, null, null)::qwf.live_log,
  'and returned');
select ok(qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 8, E'one\ntwo\n'), 'more');
select is((qwf.follow_log(qwf_test.job('a'))).end_offset, 8::bigint, 'grows');
select throws_ok('select qwf.follow_log(-1)', 'QW001', null, 'no such job');
