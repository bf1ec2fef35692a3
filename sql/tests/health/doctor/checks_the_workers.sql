-- 9 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('workers'),
  'fine: Workers are alive, switched on, and of the schema''s version.', 'there is none');
select qwf_test.set_now('2030-01-01 12:00');
create temp table worker as
select qwf.register_worker('box-a', 'cpu', jsonb_build_object('version', qwf.version())) as id;
select qwf_test.travel('10 min');
select is(pg_temp.finds('workers'),
  format('problem: worker %1$s has been silent for 10 min 00 s -> '
  'look at box box-a: systemctl status ''qwf-agent@*''; if it is gone for good, it is forgotten '
  'after a day, or now: qwf worker forget %1$s', w.id), 'one is silent') from worker w;
update qwf.workers set last_seen = qwf.now();
select is(pg_temp.finds('workers'),
  'fine: Workers are alive, switched on, and of the schema''s version.', 'it is back');
update qwf.workers set stats = '{"code_problem": "SyntaxError"}';
select is(pg_temp.finds('workers'), format('problem: worker %s keeps running old code, because its '
  'new code cannot be imported: SyntaxError -> mend the code on box box-a: the agent tries again '
  'by itself', w.id), 'its code is broken') from worker w;
update qwf.workers set stats = '{}', version = '0.0.1';
select matches(pg_temp.finds('workers'), '^note: version 0.0.1 runs on box-a; the schema is ',
  'it is old');
update qwf.workers set version = qwf.version();
select qwf.worker_control('box-a', 'cpu', 'off', reason => 'new card');
select matches(pg_temp.finds('workers'), '^note: box-a cpu is switched off by .*: new card -> qwf '
  'worker on --host box-a --queue cpu; if the box is gone for good: qwf worker forget --host box-a '
  '--all$', 'it is switched off');

select qwf.worker_control('box-a', 'cpu', 'on');
update qwf.workers set stats = '{"withdrawn": {"model flux": "no weights"}}';
select is(pg_temp.finds('workers'), format('problem: worker %s takes no jobs of model flux: no '
  'weights -> mend it on box box-a: the agent tries again after five minutes, and when its code '
  'changes', w.id), 'it cannot load a model') from worker w;
update qwf.workers set stats = '{"unreported": {"reports": 90, "jobs": [1], "tasks": [
  {"task": "shout", "reports": 89, "error": "P0001 boom"},
  {"task": "odd", "reports": "x", "error": []}, 7]}}';
select matches(pg_temp.finds('workers'), '^problem: box-a has 89 ended bodies that it cannot '
  'report: x of odd: \[\]; 89 of shout: P0001 boom -> mend or drop what refuses them, ',
  'it cannot report, and says so in an odd way');
update qwf.workers set stats = '{}';
select qwf.withdraw_worker(w.id, 'cannot write /data/out (Read-only file system)') from worker w;
select matches(pg_temp.finds('workers'), '^problem: box-a has withdrawn from cpu: cannot write '
  '/data/out \(Read-only file system\) -> mend it, then: qwf worker on --host box-a --all; '
  'by itself it tries again at ', 'it has withdrawn');
