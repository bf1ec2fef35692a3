-- 2 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
create temp table made as select qwf.enqueue_run('one', key => 'k', once => true) as id;
select qwf_test.attempt('s/a');
select results_eq($$ select qwf.enqueue_run('one', key => 'k') $$, 'select id from made',
  'it ended, and has the key still');
select qwf.register_workflow('{"name": "empty", "steps": []}');
select is(qwf.enqueue_run('empty', key => 'k', once => true),
  qwf.enqueue_run('empty', key => 'k', once => true),
  'an empty one too');
