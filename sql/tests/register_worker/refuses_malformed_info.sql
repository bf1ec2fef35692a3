begin;
select plan(9);

select throws_ok($$ select qwf.register_worker('', 'cpu') $$, 'QW005', 'not a worker', 'no host');
select throws_ok($$ select qwf.register_worker(null, 'cpu') $$, 'QW005', 'not a worker',
  'no host either');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '[]') $$, 'QW005', 'not a worker',
  'a list');
select throws_ok($$ select qwf.register_worker('box', 'cpu', null) $$, 'QW005', 'not a worker',
  'null');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"labels": ["a"]}') $$, 'QW005',
  'not a worker',
  'labels without values');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"slots": "many"}') $$, 'QW005',
  'not a worker',
  'slots that are no number');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"slots": 0}') $$, 'QW005',
  'not a worker',
  'nowhere to run a body');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"tasks": 7}') $$, 'QW005',
  'not a worker',
  'tasks that are no list');
select qwf_test.explains($$ select qwf.register_worker('', 'cpu') $$, '%host%',
  'the error says what is missing');

select * from finish();
rollback;
