-- 9 tests
-- Its skip_if or the list of its map leads nowhere: another try would give the same.
select qwf_test.workflow('w', '[{"id": "up"},
  {"id": "a", "depends_on": ["up"], "on_failure": "ask", "skip_if": {"$from": "up.x"}},
  {"id": "m", "depends_on": ["up"], "on_failure": "ask", "map": {"$from": "up.list"}},
  {"id": "n", "depends_on": ["up"], "on_failure": "ask", "map": {"$from": "up"}},
  {"id": "z", "depends_on": ["a", "m", "n"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/up');
select is(qwf_test.nodes(), 's/up completed, s/a awaiting_input, s/m awaiting_input, '
  's/n awaiting_input, s/z blocked', 'a person decides');
select is(qwf_test.run_state(), 'awaiting_input', 'the run waits too');
select set_eq($$
  select p.node_id, p.spec ->> 'options' as options, left(p.spec ->> 'error', 6) as error
  from qwf.pending_inputs p where p.age is not null
$$, $$
  values ('s/a', '["skip", "abort"]', 'QW004:'), ('s/m', '["skip", "abort"]', 'QW004:'),
    ('s/n', '["skip", "abort"]', 'QW004:')
$$, 'the question has the error');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 's/a', '"retry"') $$, 'QW005', null,
  'there is nothing to retry');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf.submit_input(qwf_test.run(), n, '"skip"') from unnest('{s/a,s/m}'::text[]) n;
select is(qwf_test.state('s/z'), 'blocked', 'one is still open');
select qwf.submit_input(qwf_test.run(), 's/n', '"skip"');
select is(qwf_test.state('s/z'), 'queued', 'a skipped dependency is satisfied');
select qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'the run completes');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
