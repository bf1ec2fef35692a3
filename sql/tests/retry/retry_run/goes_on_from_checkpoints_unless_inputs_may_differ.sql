-- 4 tests
select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["b"]}]');
select qwf.enqueue_run('w');
create function pg_temp.save() returns text language sql as $$
  select qwf.progress(c.job_id, c.token, checkpoint => '{"n": 1}') from qwf.claim('cpu', 'w') c $$;
create function pg_temp.saved() returns text language sql as $$
  select string_agg(node_id, ', ' order by id) from qwf.job_details
  where checkpoint is not null $$;
select pg_temp.save();
select qwf_test.report('s/a');
select pg_temp.save();
select qwf_test.report('s/b', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run());
select is(pg_temp.saved(), 's/a, s/b', 'the node that failed goes on from its own');
select is((select checkpoint from qwf.claim('cpu', 'w')), '{"n": 1}', 'it gets it');
select qwf_test.report('s/b');
select pg_temp.save();
select qwf_test.report('s/c', 'fatal', error => 'boom');
select qwf.retry_run(qwf_test.run(), 's/b');
select is(pg_temp.saved(), 's/a',
  'a node that had completed begins anew, and so does what follows it');
select is_empty('select * from qwf.check_invariants()', 'all is well');
