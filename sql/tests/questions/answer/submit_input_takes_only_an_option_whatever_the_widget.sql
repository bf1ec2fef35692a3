-- 6 tests
select qwf_test.question('chose_one', '{"options": ["x", {"id": "y", "label": "Y"}]}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"zzz"') $$, 'QW005', null,
  'not an option');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"y"') $$, 'one of the options');

select qwf_test.question('tick', '{"options": ["x", "y"], "multiple": true}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '["x", "z"]') $$, 'QW005', null,
  'one of several is not an option');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '["y", "x"]') $$, 'several');

select qwf_test.question('tick', '{"options": {"$from": "found"}, "source": [1]}',
  '{"found": ["x"]}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '1') $$, 'QW005', null,
  'options from a reference count, the source does not');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"x"') $$, 'an option');
