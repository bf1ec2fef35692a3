-- 8 tests
select qwf_test.question('text', '{"show": {"$from": "who"}}', '{"who": "anna"}');
select qwf_test.question('text', '{"show": {"$from": "who"}}', '{"who": "bob"}');
update qwf.runs set labels = '{"person": "42"}' where context ->> 'who' = 'anna';
select throws_ok($$ select qwf.erase('{"label": {"person": "42"}}') $$, 'QW002',
  '1 job has not ended', 'the question is open');
select qwf.submit_input(r.id, 'ask', '"said"') from qwf.runs r;
select is((select count(*)::int from qwf.erase('{"label": {"person": "42"}}')), 1,
  'it is found by the label of its run');
select is((select array_agg(context ? '$erased' order by id) from qwf.runs), '{t,f}',
  'the context of this run is gone');
select is((select array_agg(output ? '$erased' and input_spec ? '$erased' order by id)
  from qwf.jobs), '{t,f}', 'and its answer, and the question');
select is((select array_agg(value ? '$erased' order by job_id)
  from qwf.input_answers), '{t,f}',
  'also in the history');
select is((select array_agg(status order by run_id) from qwf.run_tries),
  '{completed,completed}'::text[], 'how it ended stays');
select throws_ok($$ select qwf.retry_run(min(id), 'ask') from qwf.runs $$, 'QW002', 'erased',
  'it does not run again');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
