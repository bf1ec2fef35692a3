-- 10 tests
select throws_ok($$ select qwf.erase('{}') $$, 'QW005', 'the filter is empty');
select throws_ok($$ select qwf.erase('{"label": null}') $$, 'QW005', 'the filter is empty');
select throws_ok($$ select qwf.erase('{"label": {}}') $$, 'QW005', 'the filter is empty');
select throws_ok($$ select qwf.erase(null) $$, 'QW005', 'invalid filter');
select throws_ok($$ select qwf.erase('{"ids": "7"}') $$, 'QW005', 'invalid filter');
select throws_ok($$ select qwf.erase('{"ids": [1.5]}') $$, 'QW005', 'invalid filter');
select throws_ok($$ select qwf.erase('{"label": {}, "labels": {}}') $$, 'QW005', 'invalid filter');
select throws_ok($$ select qwf.erase('{"key": "k"}', '{}') $$, 'QW005', 'no part to erase');
select throws_ok($$ select qwf.erase('{"key": "k"}', '{arg}') $$, 'QW005', 'unknown part');
select throws_ok($$ select qwf.erase('{"key": "k"}', max_rows => 0) $$, 'QW005', 'no row to erase');
