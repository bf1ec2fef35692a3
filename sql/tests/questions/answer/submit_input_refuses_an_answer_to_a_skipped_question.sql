-- 2 tests
select qwf_test.question('text', '{"skip_if": {"$from": "quick", "$default": true}}');
select is(qwf_test.nodes(), 'ask skipped', 'nobody asked');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"cat"') $$, 'QW002', null,
  'nobody may answer');
