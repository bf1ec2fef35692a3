-- 6 tests
select throws_ok($$ select qwf.enqueue('t', labels => '{"qwf.mine": "1"}') $$, 'QW005',
  'invalid job', 'a name that begins with qwf.');
select qwf_test.explains($$ select qwf.enqueue('t', labels => '{"a": 1, "qwf.mine": "1"}') $$,
  '%qwf.mine', 'the error names it');
select throws_ok($$ select qwf.enqueue('t', labels => '{"qwf.checked": "no"}') $$, 'QW005', null,
  'the mark of the Python client with another value');
select throws_ok(
  $$ select qwf.enqueue_many('[{"task": "t", "labels": {"qwf.checked": true, "qwf.x": 1}}]') $$,
  'QW005', null, 'and besides that mark');
select throws_ok($$ select qwf.enqueue_run('none', labels => '{"qwf.x": "1"}') $$, 'QW005',
  'invalid run', 'a run has none either');
select lives_ok($$ select qwf.enqueue('t', labels => '{"qwf": "1", "a": "qwf."}') $$, 'any other');
