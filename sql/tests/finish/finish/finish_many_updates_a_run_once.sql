-- 7 tests
-- b is queued by the report; c is opened by its guard, d and e are skipped one after the other
select qwf_test.workflow('plain', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf_test.workflow('guarded', '[{"id": "v"}, {"id": "w", "depends_on": ["v"]},
  {"id": "c", "depends_on": ["v"], "skip_if": {"$from": "v.no"}},
  {"id": "d", "depends_on": ["v"], "skip_if": {"$from": "v.yes"}},
  {"id": "e", "depends_on": ["d"], "skip_if": {"$from": "v.yes"}}]');
select qwf.enqueue_run('plain'), qwf.enqueue_run('guarded');
select qwf_test.claim('cpu', 2);
create temp table before as
  select pg_stat_get_xact_tuples_updated('qwf.runs'::regclass) as updates;
create temp table report as
  select jsonb_agg(jsonb_build_object('job_id', j.id, 'token', j.token, 'outcome', 'completed',
    'output', '{"no": false, "yes": true}'::jsonb)) as list
  from qwf.jobs j where j.status = 'running';
select results_eq('select v.verdict, v.pending from report r, qwf.finish_many(r.list) v',
  $$ values ('ok', false), ('ok', false) $$, 'both are applied');
select is(pg_stat_get_xact_tuples_updated('qwf.runs'::regclass) - b.updates, 2::bigint,
  'each run is updated once') from before b;
select results_eq($$ select j.node_id, j.status::text from qwf.jobs j order by 1 $$,
  $$ values ('s/a', 'completed'), ('s/b', 'queued'), ('s/c', 'queued'), ('s/d', 'skipped'),
    ('s/e', 'skipped'), ('s/v', 'completed'), ('s/w', 'queued') $$, 'and moves on');
select results_eq(
  'select r.status::text, r.open_nodes, r.active_nodes from qwf.runs r order by r.id',
  $$ values ('running', 1, 1), ('running', 2, 2) $$, 'the counters are right');

select qwf_test.claim('cpu', 3);
update report set list = (
  select jsonb_agg(jsonb_build_object('job_id', j.id, 'token', j.token, 'outcome', 'completed'))
  from qwf.jobs j where j.status = 'running');
update before set updates = pg_stat_get_xact_tuples_updated('qwf.runs'::regclass);
select qwf.finish_many(r.list) from report r;
select is(pg_stat_get_xact_tuples_updated('qwf.runs'::regclass) - b.updates, 2::bigint,
  'a run that ends is updated once too') from before b;
select results_eq('select distinct r.status::text, r.open_nodes from qwf.runs r',
  $$ values ('completed', 0) $$, 'and is over');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
