-- 8 tests
select qwf_test.register_album();
create temp table run as select qwf.enqueue_run('album', '{"list": ["ada", "bob"]}') as id;
select qwf_test.works(9);
select is((select count(*) from qwf.runs), 3::bigint, 'a run with two inside');
select qwf.retry_run(id, from_node => 'each') from run;
select is_empty('select * from qwf.check_invariants()', 'invariants');
select is((select count(*) from qwf.runs r left join qwf.jobs j on j.id = r.parent_id
  where r.depth > 0 and j.id is null), 0::bigint, 'none is left without its step');
select qwf_test.works(9);
select is((select count(*) from qwf.runs), 3::bigint, 'the map has run again as a whole');

-- in another version the step is gone
select qwf.register_workflow('{"name": "album", "steps": [
  {"id": "scan", "node": "scan", "inputs": {"list": {"$from": "list"}}},
  {"id": "new", "node": "new"}]}');
select qwf.retry_run(id, latest => true) from run;
select is((select count(*) from qwf.runs), 1::bigint, 'its runs are gone, too');
select is_empty('select * from qwf.check_invariants()', 'invariants');

-- a run with runs inside is pruned with them
select qwf_test.works(9);
create temp table next as select qwf.enqueue_run('album', '{"list": []}');
select qwf_test.works(9);
update qwf.runs set finished_at = finished_at - interval '1 year';
select _qwf.prune_runs(1000);
select is_empty('select from qwf.jobs', 'all are pruned');
select is_empty('select from qwf.runs', 'with the runs inside');
