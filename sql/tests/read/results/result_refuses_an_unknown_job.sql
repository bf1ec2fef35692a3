-- 2 tests
select throws_ok('select qwf.result(-1)', 'QW001', 'no such job', 'no such job');
select qwf_test.explains('select qwf.result(-1)', '%-1%', 'the error names it');
