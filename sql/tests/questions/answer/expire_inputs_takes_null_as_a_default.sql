-- 2 tests
select qwf_test.question('choose_one',
  '{"options": ["a"], "expires": "1 h", "default": null}');
select qwf_test.travel('1 h'), qwf.tick();
select is((select output from qwf.jobs), '{"answer": null}', 'null is an answer');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
