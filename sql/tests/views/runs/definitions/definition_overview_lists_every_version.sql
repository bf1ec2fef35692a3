-- 3 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}, {"id": "b"}]}');
select qwf.register_workflow('{"name": "w", "display_name": "Make it", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "ask", "kind": "input", "widget": "confirm"}]}');
select results_eq($$
  select kind, name, version, current, title, parts, pipelines
  from qwf.definition_overview order by kind, version
$$, $$
  values ('pipeline', 'p', 1, true, null, 2, '{}'::text[]),
    ('workflow', 'w', 1, false, 'Make it', 1, '{p}'), ('workflow', 'w', 2, true, null, 2, '{p}')
$$, 'workflows and pipelines, their sizes and what they use');
select is(definition ->> 'display_name', 'Make it', 'as it was registered')
from qwf.definition_overview where kind = 'workflow' and version = 1;
update qwf.workflows set definition = '"strange"' where version = 2;
select is(parts, 0, 'one of an older engine has no parts')
from qwf.definition_overview where kind = 'workflow' and version = 2;
