-- 3 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue('lapsing');
select qwf_test.claim('default');
select qwf.enqueue('due', run_at => qwf.now() + '1 min');
select qwf.enqueue_run('pair');
select qwf_test.claim(), qwf_test.jam('s/b'), qwf_test.report('s/a'), qwf_test.unjam();
select qwf_test.travel('1 h');
select ok(qwf.tick() @> '{"ran": true, "reclaimed": 1, "promoted": 1, "cancelled": 0,
  "drained": 1, "next_due_s": null}', 'and says what it did');
select results_eq('select distinct status::text from qwf.jobs where finished_at is null',
  array['queued'],
  'lapsed, due and left over alike');
select ok(qwf.tick() @> '{"ran": true, "reclaimed": 0, "promoted": 0, "cancelled": 0,
  "drained": 0, "next_due_s": null}', 'then there is nothing left to do');
