-- 2 tests
select ok(qwf.now() >= statement_timestamp() and qwf.now() <= clock_timestamp(),
  'not transaction time');
select ok(qwf.now() <= qwf.now(), 'it never goes backwards');
