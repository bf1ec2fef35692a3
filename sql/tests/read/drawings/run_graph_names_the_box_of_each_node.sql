-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('w');
create temp view node as
select n ->> 'id' as id, n ->> 'host' as host
from jsonb_array_elements(qwf.run_graph(qwf_test.run()) -> 'nodes') n;
select is_empty('select from node where host is not null', 'none before a claim');
select qwf.claim('cpu', qwf.register_worker('box', 'cpu', '{}'), 1);
select results_eq('select id, host from node order by id',
  $$ values ('s/a', 'box'), ('s/b', null) $$, 'of the worker that has it');
delete from qwf.workers;
select is((select host from node where id = 's/a'), 'box', 'also when the worker is forgotten');
