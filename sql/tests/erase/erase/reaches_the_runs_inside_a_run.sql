-- 3 tests
select qwf_test.register_album();
create temp table run as select qwf.enqueue_run('album', '{"list": ["ada", "bob"]}') as id;
select qwf_test.works(9);
select is((select r.status::text from qwf.runs r join run on run.id = r.id), 'completed',
  'it has run');
select ok((select count(*) from run, qwf.erase(jsonb_build_object('ids', jsonb_build_array((
  select j.id from qwf.jobs j where j.run_id = run.id and j.node_id = 'scan'))))) > 0, 'erased');
select is_empty($$ select context from qwf.runs where context::text ~ 'ada|bob' $$,
  'also the contexts of the runs inside');
