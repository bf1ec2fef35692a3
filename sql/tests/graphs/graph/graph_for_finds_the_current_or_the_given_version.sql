-- 11 tests
select qwf.register_workflow('{"name": "w", "steps": []}');
select qwf.register_workflow('{"name": "w", "steps": [], "display_name": "x"}');
select is(w.version, c.version, c.name)
from (values ('w', 2), ('w@1', 1), ('w@2', 2)) c (name, version)
join qwf.graphs g on g.id = _qwf.graph_for(c.name)
join qwf.workflows w on w.id = g.workflow_id;
select qwf_test.explains($$ select _qwf.graph_for('v') $$, $$there is no workflow 'v'$$,
  'an unknown name');
select qwf_test.explains($$ select _qwf.graph_for('w@3') $$, $$workflow 'w' has versions 1 to 2$$,
  'an unknown version');
select throws_ok(format('select _qwf.graph_for(%L)', c.name), 'QW001', 'unknown workflow', c.name)
from (values ('w@'), ('w@x'), ('w@-1'), ('w@1@1'), (''), ('@1')) c (name);
