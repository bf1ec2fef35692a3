-- 2 tests
select throws_ok('select * from qwf.find_unassignable(0)', 'QW005', 'invalid bound', 'too few');
select throws_ok('select * from qwf.find_unassignable(null)', 'QW005', 'invalid bound', 'none');
