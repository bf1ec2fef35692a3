-- 7 tests
select qwf.create_limit('api', 1);
select qwf.create_limit('customer', 1, keyed => true);
select qwf.register_workflow('{"name": "one", "steps": [
  {"id": "a", "node": "a", "limit_by": "api"}]}');
select qwf.register_workflow('{"name": "above", "steps": [
  {"id": "r", "kind": "workflow", "workflow": "one", "limit_by": "customer:ada"}]}');
select qwf.create_schedule('nightly', 't', every => '1 day', options => '{"limit_by": "api"}');
select throws_ok($$ select qwf.drop_limit('api') $$, 'QW002', 'limit is in use');
select qwf_test.explains($$ select qwf.drop_limit('api') $$,
  '%schedule nightly; workflow one, step a%', 'a step that is a node, and a schedule');
select qwf_test.explains($$ select qwf.drop_limit('customer') $$,
  '%workflow above, step r%', 'a step that runs a workflow');
select qwf.register_workflow('{"name": "one", "steps": [{"id": "a", "node": "a"}]}');
select qwf_test.explains($$ select qwf.drop_limit('api') $$,
  'limit ''api'' is named by schedule nightly', 'only the schedule is left');
select qwf.enable_schedule('nightly', false);
select lives_ok($$ select qwf.drop_limit('api') $$, 'a schedule that is off does without it');
select qwf.register_workflow('{"name": "above", "steps": [{"id": "a", "node": "a"}]}');
select lives_ok($$ select qwf.drop_limit('customer') $$, 'no key of it is named');
select throws_ok($$ select qwf.drop_limit('api') $$, 'QW001');
