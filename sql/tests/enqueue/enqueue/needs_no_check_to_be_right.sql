-- 12 tests
-- Most jobs go past the full check. A value that it would refuse is refused in any company.
select lives_ok($$ select qwf.enqueue(repeat('t', 200), '{"x": "y"}', 'cpu', 7) $$, 'the usual');
select throws_ok($$ select qwf.enqueue(repeat('t', 201)) $$, 'QW005', 'invalid job', 'a long task');
select throws_ok($$ select qwf.enqueue('') $$, 'QW005', 'invalid job', 'an empty task');
select throws_ok($$ select qwf.enqueue(null) $$, 'QW005', 'invalid job', 'no task');
select throws_ok($$ select qwf.enqueue('t', args => null) $$, 'QW005', 'invalid job', 'no args');
create temp table traced as select labels from unnest(array['{"traceparent": "00-1-2-01"}',
  '{"traceparent": "00-1-2-01", "tracestate": "a=b", "qwf.checked": true}']::jsonb[]) labels;
select is(bool_and(_qwf.is_plain('t', '{}', t.labels, 1000)), true, 'a trace needs no check')
from traced t;
select qwf.enqueue('traced', labels => t.labels) from traced t;
select results_eq(
  $$ select labels from qwf.jobs where task = 'traced' order by labels ? 'tracestate' $$,
  $$ select labels - 'qwf.checked' from traced order by labels ? 'tracestate' $$, 'it is kept');
select throws_ok($$ select qwf.enqueue('t', labels => '{"traceparent": "a", "qwf.x": 1}') $$,
  'QW005', 'invalid job', 'a label of the engine beside it');
select throws_ok($$ select qwf.enqueue('t', labels => '{"traceparent": 1e131071}') $$,
  'QW005', null, 'it is a text');
select throws_ok($$ select qwf.enqueue('t', labels => '["traceparent"]') $$,
  'QW005', 'invalid job', 'labels are an object');
update qwf.settings set max_value_bytes = 20;
select throws_ok($$ select qwf.enqueue('t', '{"x": "123456789012345678"}') $$, 'QW005',
  'value too large', 'the setting counts for small values too');
select throws_ok($$ select qwf.enqueue_many('[{"task": "t", "args": {"x": "12345678901234"}}]') $$,
  'QW005', 'value too large', 'in a list as well');
