-- 2 tests
select count(*) from qwf.enqueue_many('[{"task": "a"}, {"task": "b"}, {"task": "c"}]');
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'one by default');
select is((select count(*) from qwf.claim('default', 'w', max_jobs => 2)), 2::bigint,
  'as many as asked for');
