-- 2 tests
select qwf_test.workflow('w', '[{"id": "a", "display_name": "old"}]');
create temp table before as
select g.id, qwf.workflow_graph(graph_id => g.id) as graph from qwf.graphs g;
select qwf_test.workflow('w', '[{"id": "a", "display_name": "new"}, {"id": "b"}]');
select is(qwf.workflow_graph(graph_id => id), graph, 'the graph of the older version') from before;
select isnt(qwf.workflow_graph(graph_id => g.id), b.graph, 'is not that of the newer one')
from before b join qwf.graphs g on g.id > b.id;
