-- 15 tests
select qwf_test.workflow('w',
  '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["a", "b"]}]');
select qwf.enqueue_run('w'), qwf_test.work();
create function pg_temp.finds(p_node text, p_damage text) returns text language plpgsql as $$
declare
  v_found text;
begin
  begin
    execute p_damage;
    select string_agg(i.invariant, ', ' order by i.invariant) into v_found
    from qwf.check_invariants() i
    where i.subject = 'job ' || qwf_test.job(p_node) and i.detail <> '';
    raise exception 'undo';
  exception
    when raise_exception then return v_found;
  end;
end $$;
select is(pg_temp.finds('s/b', $$ update qwf.jobs set attempt = 1 where node_id = 's/b' $$),
  'every ended claim is an attempt', 'a claim that left no trace');
select is(pg_temp.finds('s/a', $$ update qwf.job_attempts set outcome = 'error' $$),
  'an outcome is written once', 'a completed job without a completed attempt');
select is(pg_temp.finds('s/c', $$ update qwf.jobs set remaining_deps = 2 where node_id = 's/c' $$),
  'remaining_deps counts unsatisfied dependencies', 'a node that would wait forever');
select alike(pg_temp.finds('s/c', $$ update qwf.jobs set remaining_deps = 0
where node_id = 's/c' $$),
  '%a node without open dependencies is opened%', 'a node that nobody opens');
select is(pg_temp.finds('s/b', $$ update qwf.jobs set losses = 2, options.max_losses = 1
where node_id = 's/b' $$),
  'budgets hold', 'a budget that is overdrawn');
select is(pg_temp.finds('s/b', $$
  update qwf.jobs set status = 'running', token = gen_random_uuid(), lease_expires_at = qwf.now(),
    claimed_by = 'w',
    started_at = qwf.now(), attempt = 1 where node_id = 's/b'
$$), 'a token is made for its job', 'a token made elsewhere');
select is(pg_temp.finds('s/c', $$ update qwf.jobs set status = 'queued', queued_at = qwf.now()
where node_id = 's/c' $$),
  'the columns of a job agree with its state', 'queued, but nowhere in the queue');
select is(pg_temp.finds('s/b', $$ update qwf.jobs set lease_expires_at = qwf.now()
where node_id = 's/b' $$),
  'the columns of a job agree with its state', 'a lease that nobody has');
select is(pg_temp.finds('s/a', $$ update qwf.jobs set finished_at = null where node_id = 's/a' $$),
  'the columns of a job agree with its state', 'completed at no time');
select is(pg_temp.finds('s/b',
    $$ update qwf.jobs set options.timeout = '-1 s' where node_id = 's/b' $$),
  'the terms of a job are valid', 'a time limit before it starts');
select is(pg_temp.finds('s/b', $$ update qwf.jobs
    set requires = jsonb_build_object('x', repeat('x', 65536)) where node_id = 's/b' $$),
  'the labels of an unfinished job have at most 64 KiB', 'more than a claim should compare');
select is(pg_temp.finds('s/b', $$ update qwf.jobs set element = 1 where node_id = 's/b' $$),
  'a job is standalone, a node, or an element', 'an element of nothing');
select is(pg_temp.finds('s/a', $$ update qwf.job_attempts set outcome = 'fine' $$),
  'an outcome is one a worker can report, an outcome is written once',
  'an outcome nobody knows');
select alike(pg_temp.finds('s/b', 'delete from qwf.runs'), '%a node has its run%',
  'a run that is gone');
select is(pg_temp.finds('s/b', 'select 1'), null, 'nothing else');
