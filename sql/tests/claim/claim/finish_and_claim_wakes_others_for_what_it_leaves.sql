-- 2 tests
select qwf.create_limit('one', 1);
create temp table here as select qwf_test.worker('{"tasks": ["a", "x"]}') as id;
create temp table there as select qwf_test.worker('{"tasks": ["y"]}', 'other') as id;
select qwf.enqueue('a', queue => 'cpu', limit_by => 'one');
select qwf.claim('cpu', h.id) from here h;
select qwf.enqueue('y', queue => 'cpu', limit_by => 'one');
select qwf.sleep(t.id, 'cpu') from there t;
update qwf.sleepers set since = since - interval '10 ms';
insert into qwf.jobs (task, queue, status, position, queued_at)
values ('x', 'cpu', 'queued', 0, qwf.now() - interval '1 s');
select results_eq($$
  select j.task, c.verdict
  from here h, qwf.finish_and_claim(jsonb_build_array(jsonb_build_object(
    'job_id', qwf_test.job('a'), 'token', qwf_test.token('a'), 'outcome', 'completed')),
    'cpu', h.id, 5) c join qwf.jobs j on j.id = c.job_id
$$, $$ values ('a', 'ok'), ('x', null) $$, 'it takes an older job, and cannot take y');
select is(qwf_test.woken(), (select t.id from there t), 'the slot that it frees wakes another');
