-- 4 tests
-- A later attempt on the same box replaces the list of that box; another box has its own list.
-- References see only the files of the attempt that completed.
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu", "retry": {"max_attempts": 9}},
  {"id": "b", "queue": "cpu", "inputs": {"files": {"$from": "a.files"}},
    "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
create temp view listed as
  select file_no, rel_path, host, of_attempt, completed from qwf.file_overview order by file_no;
select qwf_test.attempt('s/a', 'tempfail', detail => '{"host": "x", "files": [
  {"rel_path": "half"}, {"rel_path": "old"}]}');
select results_eq('select rel_path, host, of_attempt, completed from listed', $$ values
  ('half', 'x', 1, false), ('old', 'x', 1, false) $$, 'kept');
select qwf_test.travel('1 day'), _qwf.promote_due();
select qwf_test.attempt('s/a', 'tempfail', detail => '{"host": "y", "files": [
  {"rel_path": "half"}]}');
select qwf_test.travel('1 day'), _qwf.promote_due();
select qwf_test.attempt('s/a', detail => '{"host": "x", "files": [{"rel_path": "whole"}]}');
select results_eq('select rel_path, host, of_attempt, completed from listed', $$ values
  ('half', 'y', 2, false), ('whole', 'x', 3, true) $$, 'each box as its last attempt left it');
select is(count(distinct file_no), 2::bigint, 'each has a number of its own') from listed;
select is(inputs #>> '{files,0,rel_path}', 'whole', 'a reference sees the whole one')
from qwf.claim('cpu', 'w') where jsonb_array_length(inputs -> 'files') = 1;
