begin;
select plan(3);

select qwf_test.workflow('w', '[{"id": "a", "skip_if": {"$from": "quick"}}, {"id": "b"}]');
select qwf.enqueue_run('w');
select is(qwf_test.nodes(), 's/a failed, s/b cancelled', 'QW004 ends it');
select matches((select error from qwf.runs), '^s/a failed: QW004.*quick', 'saying why');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

select * from finish();
rollback;
