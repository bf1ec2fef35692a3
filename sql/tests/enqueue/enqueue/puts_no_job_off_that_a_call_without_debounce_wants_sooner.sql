-- 10 tests
create function pg_temp.plain(
  p_at text, p_run_at timestamptz default null, p_mode text default null)
returns timestamptz language sql as $$
  select qwf_test.set_now(('2026-01-01 ' || p_at || 'Z')::timestamptz);
  select qwf.enqueue('index', '{"text": ""}', key => 'k', run_at => p_run_at, key_mode => p_mode);
  select j.run_at from qwf.jobs j where j.status <> 'running' $$;
select qwf_test.edit('12:00:00');
select is(pg_temp.plain('12:00:01', '2026-01-01 12:00:30Z'), '2026-01-01 12:00:05Z',
  'a later time');
select is(qwf_test.edit('12:00:04', '40 s'), '2026-01-01 12:00:30Z', 'is the latest start');
select is(pg_temp.plain('12:00:06'), null, 'at once');
select is(qwf_test.edit('12:00:07'), null, 'stays at once');
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'it starts');
select is(pg_temp.plain('12:01:00'), null, 'a job that somebody wants at once');
select is(qwf_test.edit('12:01:01'), null, 'is not put off');
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j where j.status = 'running';
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'it starts');
select is(qwf_test.edit('12:02:00', '30 s'), '2026-01-01 12:02:30Z', 'a new one');
select is(pg_temp.plain('12:02:01', p_mode => 'replace'), null, 'replace wants it at once, too');
