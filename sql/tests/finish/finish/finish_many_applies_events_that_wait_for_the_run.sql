-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 2);
select qwf_test.jam('s/c'), qwf_test.report('s/a'), qwf_test.unjam();
select is(qwf_test.state('s/c'), 'blocked', 'an event was left');
select qwf_test.report('s/b');
select is(qwf_test.state('s/c'), 'queued', 'the next finish in that run applies it too');
select is_empty('select * from qwf.outbox', 'nothing is left');
