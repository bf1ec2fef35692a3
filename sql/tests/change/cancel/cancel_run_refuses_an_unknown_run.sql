-- 3 tests
select throws_ok('select qwf.cancel_run(-1)', 'QW001', 'no such run', 'no such run');
select throws_ok('select qwf.cancel_run(null)', 'QW001', 'no such run', 'nothing');
select qwf_test.explains('select qwf.cancel_run(-1)', '%-1%', 'the error names it');
