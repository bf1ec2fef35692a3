-- 3 tests
select qwf_test.explains($$ select qwf.enqueue('mail', requires => '{"zone": 5}') $$,
  'requires: label "zone" must be a text, not of type number: write "5"', 'a number');
select qwf_test.explains($$ select qwf.enqueue_many('[{"task": "a", "requires": {"on": true}}]') $$,
  '[0].requires: label "on" must be a text%', 'in a list');
select lives_ok($$ select qwf.enqueue('mail', requires => '{"zone": "5"}') $$, 'a text');
