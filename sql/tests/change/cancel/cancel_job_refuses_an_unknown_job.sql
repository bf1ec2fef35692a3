-- 3 tests
select throws_ok('select qwf.cancel_job(-1)', 'QW001', 'no such job', 'no such job');
select throws_ok('select qwf.cancel_job(null)', 'QW001', 'no such job', 'nothing');
select qwf_test.explains('select qwf.cancel_job(-1)', '%-1%', 'the error names it');
