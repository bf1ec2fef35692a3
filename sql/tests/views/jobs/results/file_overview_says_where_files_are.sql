-- 4 tests
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu"}]');
select qwf.enqueue_run('w', out_dir => 'shop');
select qwf.register_worker('box', 'cpu', '{"out_root": "/old"}');
update qwf.workers set last_seen = qwf.now() - interval '1 h';
select qwf.register_worker('box', 'gpu', '{"out_root": "/data"}');
select qwf.register_worker('other', 'gpu', '{"out_root": "/elsewhere"}');
select qwf.enqueue('b');
insert into qwf.run_files (job_id, file_no, rel_path, run_id, node_id, host, kind, size_bytes)
values (qwf_test.job('s/a'), 1, 'a/x.png', qwf_test.run(), 's/a', 'box', 'image', 7),
  (qwf_test.job('b'), 1, 'y.txt', null, null, 'unknown', 'text', 8);
select results_eq($$
  select job_id, path, task, f.out_dir, out_root, kind, size_bytes, f.created_at = r.created_at
  from qwf.file_overview f join qwf.runs r on r.id = f.run_id
$$, $$
  values (qwf_test.job('s/a'), format('/data/shop/%s/a/x.png', qwf_test.run()), 'a', 'shop',
    '/data', 'image', 7::bigint, true)
$$, 'the folder of the run, below that of the newest worker of the box');
select results_eq($$
  select f.task, path, out_root, f.attempt, f.created_at = j.created_at
  from qwf.file_overview f join qwf.jobs j on j.id = f.job_id where f.run_id is null
$$, $$ values ('b', null, null, 0, true) $$, 'of a standalone job, on a box that said nothing');
select is(min(f.instance), (select i.id::text from qwf.instance i),
  'all with the mark of this database') from qwf.file_overview f;

create function pg_temp.path(p_out_dir text) returns text language sql as $$
  update qwf.runs set out_dir = p_out_dir;
  select path from qwf.file_overview where run_id = qwf_test.run()
$$;
select results_eq($$ select pg_temp.path(p) from unnest(array['/', '/srv/', null, '~/x']) p $$,
  $$ select p || format('/%s/a/x.png', qwf_test.run())
  from unnest(array['', '/srv', '/data', null]) p $$, 'and of other folders of a run');
