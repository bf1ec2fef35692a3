-- 6 tests
create temp table worker as select qwf.register_worker('box', 'cpu') as id;
select throws_ok($$ select qwf.update_worker('stranger', '{}') $$, 'QW001', 'no such worker',
  'an unknown worker');
select throws_ok($$ select qwf.update_worker(w.id, '[]') from worker w $$, 'QW005',
  'invalid worker', 'a list');
select throws_ok($$ select qwf.update_worker(w.id, '{"tasks": "one"}') from worker w $$, 'QW005',
  'invalid worker', 'a task that is not a list');
select throws_ok($$ select qwf.update_worker(w.id, '{"task": ["one"]}') from worker w $$, 'QW005',
  'unknown key', 'a mistyped key');
select throws_ok($$ select qwf.update_worker(w.id, '{"slots": 2}') from worker w $$, 'QW005',
  'unknown key', 'a key that cannot change');
select qwf.deregister_worker(w.id) from worker w;
select throws_ok($$ select qwf.update_worker(w.id, '{"tasks": []}') from worker w $$, 'QW001',
  'no such worker', 'a deregistered worker');
