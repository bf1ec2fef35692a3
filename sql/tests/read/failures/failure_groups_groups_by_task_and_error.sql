-- 4 tests
select qwf_test.set_now('2026-01-01 12:00+00');
create function pg_temp.fail(p_task text, p_error text, p_host text) returns void
language plpgsql as $$
begin
  perform qwf.enqueue(p_task, queue => 'cpu', max_attempts => 1);
  perform qwf.claim('cpu', coalesce((select w.id from qwf.workers w where w.host = p_host),
    qwf.register_worker(p_host, 'cpu')));
  perform qwf.finish(j.id, j.token, 'error', error => p_error)
  from qwf.jobs j where j.status = 'running';
end $$;
select pg_temp.fail('t', E'KeyError: frame 7 of /a/b.png\nx', 'box-a'), qwf_test.travel('90 min');
select pg_temp.fail('u', 'KeyError: frame 7 of /a/b.png', 'box-a'), qwf_test.travel('1 min');
select pg_temp.fail('t', 'KeyError: frame 1,200 of /c.png', 'box-b'), qwf_test.travel('1 s');
select pg_temp.fail('t', 'KeyError: frame 3 of /c.png', 'box-b'), qwf_test.travel('1 s');
select pg_temp.fail('t', 'KeyError: frame 4 of /c.png', 'box-b'), qwf_test.travel('1 s');
select results_eq(
  $$ select task, signature, count, hosts, cardinality(job_ids), example, searched, searched_to
    from qwf.failure_groups() $$,
  $$ values
    ('t', 'KeyError: frame # of <path>', 4, '{box-a,box-b}'::text[], 3,
      'KeyError: frame 4 of /c.png', 5, null::timestamptz),
    ('u', 'KeyError: frame # of <path>', 1, '{box-a}', 1, 'KeyError: frame 7 of /a/b.png', 5, null)
  $$, 'what differs in numbers and paths alone is one group of its task');
select results_eq(
  $$ select g.first_at, g.last_at, g.job_ids from qwf.failure_groups() g where g.task = 't' $$,
  $$ select min(j.finished_at), max(j.finished_at), (array_agg(j.id order by j.id desc))[:3]
    from qwf.jobs j where j.task = 't' $$, 'since when, and the newest three');
select is(
  (select array_to_string(g.by_hour, '') from qwf.failure_groups() g where g.task = 't'),
  repeat('0', 22) || '13', 'how many in each hour');
select results_eq($$
  select 1, g.task, g.count, g.hosts, g.searched from qwf.failure_groups(host => 'box-b') g
  union all select 2, g.task, g.count, g.hosts, g.searched
    from qwf.failure_groups(task => 'u', queue => 'cpu') g
  union all select 3, g.task, g.count, g.hosts, g.searched
    from qwf.failure_groups(workflow => 'w') g
  $$, $$ values (1, 't', 3, '{box-b}'::text[], 5), (2, 'u', 1, '{box-a}', 5) $$,
  'those of a task, a queue, a box or a workflow alone');
