select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "node": "a"}]}');
select qwf.register_workflow(d), qwf.register_workflow(d)
from (values ('{"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}'::jsonb))
  v (d);
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "b", "node": "b"}]}');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "node": "a"}]}');
select results_eq($$ select kind, subject, login, detail from qwf.audit order by id $$, $$ values
  ('definition_changed', 'p', qwf_test.login(), '{"of": "pipeline", "new": {"version": 1}}'::jsonb),
  ('definition_changed', 'w', qwf_test.login(), '{"of": "workflow", "new": {"version": 1}}'),
  ('definition_changed', 'p', qwf_test.login(),
    '{"of": "pipeline", "old": {"version": 1}, "new": {"version": 2}}'),
  ('definition_changed', 'p', qwf_test.login(),
    '{"of": "pipeline", "old": {"version": 2}, "new": {"version": 1}}')
$$, 'registered and changed, also back; none for the same content');
