-- 2 tests
select isnt(qwf.register_worker('box', 'cpu'), qwf.register_worker('box', 'cpu'),
  'every start is another worker');
select is((select count(*) from qwf.workers), 2::bigint, 'with a row of its own');
