-- 2 tests
select qwf_test.workflow('w', '[{"id": "a", "node": "old"}]');
select qwf.register_pipeline('{"name": "w", "nodes": [{"id": "a", "node": "new"}]}');
select qwf.enqueue_run('w@1');
select is((select task from qwf.claim('cpu', 'w')), 'new', 'of every version of the workflow');
select qwf.register_pipeline('{"name": "w", "nodes": [{"id": "a", "node": "old"}]}');
select qwf.enqueue_run('w');
select is((select task from qwf.claim('cpu', 'w')), 'old', 'also after a rollback');
