-- 2 tests
-- <step>.files is the list of files that the step left.
select results_eq($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [{"id": "a"}],
  "outputs": {"files": {"$from": "a.x"}}}') $$, array['outputs.files: "files" is reserved'],
  'because it could not be read');
select is_empty($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [{"id": "a"}],
  "outputs": {"files": {"type": "list"}}}') $$, 'documentation may have that name');
