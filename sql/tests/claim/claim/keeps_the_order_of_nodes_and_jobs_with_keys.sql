-- 2 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "n", "node": "t"}]}');
select qwf.register_workflow(
  '{"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
create temp table w as select qwf.register_worker('box', 'cpu', '{"slots": 9}') as id;

select qwf.enqueue_run('w', priority => 5), qwf.enqueue('last', queue => 'cpu', priority => 9),
  qwf.enqueue('once', queue => 'cpu', priority => 4, key => 'k', once => true),
  qwf.enqueue('keep', queue => 'cpu', priority => 3, key => 'k'),
  qwf.enqueue('first', queue => 'cpu', priority => 1);
update qwf.jobs set queue = 'cpu';
select results_eq(
  format($$ select task from qwf.claim('cpu', %L, 9) $$, id),
  array['first', 'keep', 'once', 't', 'last'], 'by priority, whatever they are') from w;

select qwf.enqueue_run('w', priority => 5),
  qwf.enqueue('once', queue => 'cpu', priority => 4, key => 'l', once => true);
select qwf.enqueue('last', queue => 'cpu', priority => 9);
update qwf.jobs set queue = 'cpu' where status = 'queued';
select results_eq(
  format($$ select task from qwf.claim('cpu', %L, 2) $$, id),
  array['once', 't'], 'and when some are left') from w;
