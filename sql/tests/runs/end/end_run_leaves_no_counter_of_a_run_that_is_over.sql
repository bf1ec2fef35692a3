-- 6 tests
create view counters as
select r.status::text, r.open_nodes, r.active_nodes, r.waiting_nodes
from qwf.runs r order by r.id desc limit 1;
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a", "b"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal');
select results_eq('table counters', $$ values ('failed', 0, 0, 0) $$, 'a run that failed');
select qwf.retry_run(qwf_test.run());
select results_eq('table counters', $$ values ('queued', 3, 2, 0) $$, 'a retry counts again');
select qwf_test.work(), qwf_test.work();
select results_eq('table counters', $$ values ('completed', 0, 0, 0) $$, 'a run that completed');

select qwf_test.workflow('asking', '[{"id": "a", "on_failure": "ask"}]');
select qwf.enqueue_run('asking');
select qwf_test.attempt('s/a', 'fatal');
select results_eq('table counters', $$ values ('awaiting_input', 1, 0, 1) $$, 'it asks');
select qwf.cancel_run(qwf_test.run());
select results_eq('table counters', $$ values ('cancelled', 0, 0, 0) $$, 'a cancelled run');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
