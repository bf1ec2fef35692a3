-- any number of tests
select qwf_test.workflow('w', '[{"id": "a"}]'), qwf_test.workflow('v', '[{"id": "a"}]');
select qwf.enqueue_run('v'),
  qwf.enqueue_run('w', key => 'k', project => 'p', labels => '{"customer": 3, "x": 1}');
update qwf.runs set created_at = '2026-01-01 12:00+00' where workflow = 'w';
select qwf.cancel_run(qwf_test.run(), 'not 100 % sure');
create function pg_temp.found(p_filter jsonb) returns text language sql as
$$ select coalesce(string_agg(coalesce(f.workflow, 'no more'), ', '), 'nothing')
  from qwf.find_runs(p_filter) f $$;
select is(pg_temp.found('{}'), 'w, v', 'all, the newest first');
select is(pg_temp.found(f::jsonb), 'w', f)
from unnest(array[
  '{"status": "cancelled"}', '{"status": ["failed", "cancelled"]}', '{"workflow": "w"}',
  '{"project": "p"}', '{"key": "k"}', '{"labels": {"customer": 3}}', '{"error": "100 %"}',
  '{"until": "2026-01-01T12:00Z"}',
  '{"since": "2026-01-01T12:00Z", "until": "2026-01-01T13:00Z"}']) f;
select is(pg_temp.found(f::jsonb), 'nothing', f)
from unnest(array[
  '{"status": []}', '{"status": "failed"}', '{"status": "running"}', '{"workflow": "W"}',
  '{"key": ""}', '{"labels": {"x": 2}}', '{"error": "100%"}', '{"since": "2100-01-01"}',
  '{"until": "2025-01-01"}', '{"status": "queued", "workflow": "w"}']) f;
select is(pg_temp.found('{"status": "queued"}'), 'v', 'a state of runs that have not ended');
select throws_ok($$ select * from qwf.find_runs('{"task": "t"}') $$, 'QW005', 'unknown key',
  'runs have no task');
select throws_ok($$ select * from qwf.find_runs('{"status": "skipped"}') $$, 'QW005',
  'unknown status', 'nor are they skipped');
select throws_ok($$ select * from qwf.find_runs(look_back => 0) $$, 'QW005', 'invalid bound',
  'the search is bounded');
