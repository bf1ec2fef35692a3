-- 8 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "?", "target": "ok"}]}');
select qwf.register_workflow('{"name": "e", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "?", "target": "ok",
    "expires": "1 h"}]}');
select qwf.enqueue_run('w', project => 'p');
select qwf_test.travel('1 min');
select qwf.enqueue_run('e'), qwf.enqueue_run('e', project => 'p'), qwf.enqueue_run('w');
create function pg_temp.found(
  p_project text default null, p_ending boolean default false, p_after timestamptz default null,
  p_after_run bigint default null, p_rows int default 100)
returns text language sql as $$
  select coalesce(string_agg(r.n::text, ','), 'none')
  from qwf.find_inputs(p_project, p_ending, p_after,
    (select j.id from qwf.jobs j where j.run_id = qwf_test.run() - 4 + p_after_run), p_rows) f
  cross join lateral (select f.run_id - qwf_test.run() + 4 as n) r
$$;
select is(pg_temp.found(), '1,2,3,4', 'the oldest first');
select is(pg_temp.found(p_rows => 2), '1,2', 'no more than asked for');
select is(pg_temp.found(p_after => '2030-01-01 00:01', p_after_run => 2), '3,4', 'the next page');
select is(pg_temp.found(p_after => '2030-01-01 00:00', p_after_run => 1), '2,3,4',
  'which begins with a later time or a higher job');
select is(pg_temp.found('p'), '1,3', 'of a project');
select is(pg_temp.found(p_ending => true), '2,3', 'those that end');
select is(pg_temp.found(p_ending => true, p_after => '2030-01-01 01:01', p_after_run => 2), '3',
  'and their next page');
select throws_ok('select * from qwf.find_inputs(max_rows => 0)', 'QW005', 'invalid bound',
  'the number of rows is bounded');
