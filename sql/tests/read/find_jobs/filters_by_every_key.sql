-- any number of tests
select qwf.create_queue('mail');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue('other', queue => 'gpu');
select qwf.enqueue('t', '{"image": {"name": "a.png", "size": 7}}', queue => 'mail', key => 'k',
  project => 'p', labels => '{"customer": 3, "x": 1}');
select qwf.claim('mail', qwf.register_worker('box', 'mail'));
select qwf.finish(j.id, j.token, 'error', error => E'ValueError: no 100 % file\nmore')
from qwf.jobs j where j.task = 't';
select qwf.enqueue_run('w');
update qwf.jobs set created_at = '2026-01-01 12:00+00' where task = 't';

create function pg_temp.found(p_filter jsonb) returns text language sql as
$$ select coalesce(string_agg(coalesce(f.node_id, f.task), ', '), 'nothing')
  from qwf.find_jobs(p_filter) f $$;
select is(pg_temp.found('{}'), 's/b, s/a, t, other', 'all, the newest first');
select is(pg_temp.found(f::jsonb), 't', f)
from unnest(array[
  '{"status": "failed"}', '{"status": ["failed", "running"]}', '{"task": "t"}', '{"queue": "mail"}',
  '{"project": "p"}', '{"key": "k"}', '{"host": "box"}', '{"labels": {"customer": 3}}',
  '{"args": {"image": {"size": 7}}}', '{"error": "no 100 % file"}', '{"error": "more"}',
  '{"text": "k"}', '{"text": "a.png"}', '{"text": "no 100 % file"}',
  '{"until": "2026-01-01T12:00Z"}', '{"since": "2026-01-01T12:00Z", "until": "2026-01-01T13:00Z"}',
  '{"status": "failed", "queue": "mail", "task": null, "project": "p"}']) f;
select is(pg_temp.found(jsonb_build_object('worker', claimed_by)), 't', 'worker')
from qwf.jobs where task = 't';
select is(pg_temp.found(jsonb_build_object('run_id', qwf_test.run())), 's/b, s/a', 'run_id');
select is(pg_temp.found('{"node": "s/b"}'), 's/b', 'node');
select is(pg_temp.found('{"status": ["blocked", "queued"]}'), 's/b, s/a, other', 'any of states');
select is(pg_temp.found(f::jsonb), 'nothing', f)
from unnest(array[
  '{"status": []}', '{"status": "completed"}', '{"status": "running"}', '{"task": "T"}',
  '{"key": ""}', '{"host": "bo"}', '{"host": "%"}', '{"labels": {"x": 2}}',
  '{"args": {"size": 7}}', '{"error": "no 100%file"}',
  '{"text": "A.png"}', '{"text": "customer"}', '{"since": "2100-01-01"}',
  '{"until": "2025-01-01"}', '{"run_id": 4711}', '{"node": "s"}', '{"worker": "box"}',
  '{"status": "failed", "task": "other"}', '{"run_id": 4711, "status": "failed"}']) f;
select is(pg_temp.found('{"project": ""}'), 's/b, s/a, other', 'the empty project is one');
