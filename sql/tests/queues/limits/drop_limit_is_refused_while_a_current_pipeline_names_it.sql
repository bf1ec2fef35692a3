-- 4 tests
select qwf.create_limit('api', 1);
select qwf_test.workflow('w', '[{"id": "a", "limit_by": "api"}, {"id": "b"}]');
select throws_ok($$ select qwf.drop_limit('api') $$, 'QW002', 'limit is in use');
select qwf_test.explains($$ select qwf.drop_limit('api') $$, '%pipeline w, node a', 'which one');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select lives_ok($$ select qwf.drop_limit('api') $$, 'the current version does without it');
select throws_ok($$ select qwf.drop_limit('api') $$, 'QW001');
