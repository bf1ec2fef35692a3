-- 2 tests
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu"}]');
select qwf_test.workflow('w', '[{"id": "b", "queue": "cpu"}]');
select qwf.create_schedule('nightly', task => 't', cron => '0 3 * * *');
select qwf.register_worker('box', 'cpu', '{"tasks": ["a", "b"]}');
select qwf.register_worker('box', 'gpu', '{"tasks": ["b"]}');
update qwf.workers set servers = '[{"name": "llama"}]' where queue = 'gpu';
insert into qwf.attempt_totals (
  queue, task, outcome, count, wait_seconds, waits, run_seconds, runs)
values ('cpu', 'past', 'completed', 1, 0, '{}', 0, '{}'),
  ('gpu', 'past', 'lost', 1, 0, '{}', 0, '{}');
select results_eq($$
  select kind, array_agg(name order by name) from qwf.known_names
  where kind <> 'worker' group by kind order by kind
$$, $$
  values ('host', '{box}'::text[]), ('queue', '{cpu,default,gpu,llm}'), ('schedule', '{nightly}'),
    ('server', '{box/llama}'), ('task', '{a,b,past}'), ('workflow', '{w}')
$$, 'of each kind');
select bag_eq($$ select name from qwf.known_names where kind = 'worker' $$,
  'select id from qwf.workers', 'and the workers');
