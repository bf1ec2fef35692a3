-- 3 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
create temp table made as select qwf.enqueue_run('one', '{"n": 1, "m": 2}', key => 'k') as id;
select is(qwf.context_notes(id, '{"m": 2, "n": 1.0}') -> 'unused', 'false', 'an equal one')
from made;
select is(qwf.context_notes(id, '{"n": 1}') -> 'unused', 'true', 'one with less') from made;
create temp table keyless as select qwf.enqueue_run('one', '{"n": 3}') as id;
select is(qwf.context_notes(id, '{"n": 3}') -> 'unused', 'false', 'a run without a key')
from keyless;
