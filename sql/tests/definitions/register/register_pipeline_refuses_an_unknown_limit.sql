-- 4 tests
insert into qwf.limits (name, max_running) values ('mail_server', 2), ('queue:gpu', 1);
select is_empty($$ select qwf_test.node_problems('{"limit_by": "mail_server"}') $$,
  'a known one passes');
select qwf_test.explains($$ select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "n", "limit_by": "mailserver"}]}') $$,
  'nodes[0].limit_by: there is no limit "mailserver"', 'an unknown one does not');
select results_eq($$ select qwf_test.node_problems('{"limit_by": "queue:gpu"}') $$,
  array['nodes[1].limit_by: there is no limit "queue:gpu"'], 'nor does the limit of a queue');
select results_eq($$ select qwf_test.node_problems('{"limit_by": ""}') $$,
  array['nodes[1].limit_by: there is no limit ""'], 'nor does an empty name');
