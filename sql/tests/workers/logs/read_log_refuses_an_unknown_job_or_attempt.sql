-- 4 tests
select qwf.enqueue('a');
select throws_ok('select qwf.read_log(-1)', 'QW001');
select throws_ok($$ select qwf.read_log(qwf_test.job('a'), 1) $$, 'QW001');
select qwf_test.attempt('a');
select throws_ok($$ select qwf.read_log(qwf_test.job('a'), 2) $$, 'QW001');
select throws_ok($$ select qwf.read_log(qwf_test.job('a'), 0) $$, 'QW001');
