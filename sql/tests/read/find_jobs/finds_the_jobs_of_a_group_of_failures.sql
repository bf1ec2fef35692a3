-- 4 tests
select qwf.register_worker('box', 'default');
create function pg_temp.fail(p_task text, p_error text) returns void language plpgsql as $$
begin
  perform qwf.enqueue(p_task);
  perform qwf.claim('default', (select w.id from qwf.workers w));
  perform qwf.finish(j.id, j.token, 'fatal', error => p_error)
  from qwf.jobs j where j.status = 'running';
end $$;
select pg_temp.fail('t', 'KeyError: frame 7 of /a.png'), pg_temp.fail('t', 'KeyError: no frame'),
  pg_temp.fail('u', 'KeyError: frame 8 of /b.png'),
  pg_temp.fail('t', 'KeyError: frame 9 of /c.png');
create function pg_temp.group_of(p_error text) returns bigint[] language sql as $$
  select array(
    select f.id
    from qwf.failure_groups() g, qwf.find_jobs(jsonb_build_object(
      'status', 'failed', 'task', g.task, 'signature', g.signature)) f
    where g.task = 't' and g.example = p_error)
$$;
select is(pg_temp.group_of('KeyError: frame 9 of /c.png'), array(
  select j.id from qwf.jobs j
  where j.task = 't' and j.last_error ~ 'frame [0-9]' order by j.id desc),
  'the jobs of the group, and no other failure of the task');
update qwf.jobs set last_error = null where last_error = 'KeyError: no frame';
select is((select count(*) from qwf.find_jobs('{"signature": "", "status": "failed"}')), 1::bigint,
  'failures without an error are found by the empty text');
update qwf.jobs set last_error = E'Traceback (most recent call last):\n  x\nOSError: disk full\n'
where task = 'u';
select is((select f.error from qwf.find_jobs('{"task": "u"}') f), 'OSError: disk full',
  'of a traceback its last line is shown');
select throws_ok($$ select qwf.find_jobs('{"signatur": "x"}') $$, 'QW005');
