-- 2 tests
select throws_ok('select qwf.run_status(-1)', 'QW001', 'no such run', 'no such run');
select qwf_test.explains('select qwf.run_status(-1)', '%-1%', 'the error names it');
