-- 4 tests
select qwf.create_limit('api', 1);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api');
select throws_ok($$ select qwf.drop_limit('api') $$, 'QW002');
select qwf_test.attempt('a');
select lives_ok($$ select qwf.drop_limit('api') $$, 'no unfinished job names it');
select is_empty('select * from qwf.limit_slots', 'its slots are gone');
select throws_ok($$ select qwf.drop_limit('api') $$, 'QW001');
