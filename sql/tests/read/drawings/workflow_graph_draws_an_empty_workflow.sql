select qwf.register_workflow('{"name": "w", "steps": []}');
select is(qwf.workflow_graph(graph_id => g.id), '{"workflow": "w", "steps": [], "nodes": [],
  "edges": [], "inputs": [], "problems": []}', 'it has nothing') from qwf.graphs g;
