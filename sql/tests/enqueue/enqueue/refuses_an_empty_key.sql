-- 5 tests
select throws_ok($$ select qwf.enqueue('mail', key => '') $$, 'QW005', 'invalid job',
  'an empty variable would make all jobs one');
select qwf_test.explains($$ select qwf.enqueue('mail', key => '') $$, 'key:%', 'it is named');
select throws_ok($$ select qwf.enqueue_many('[{"task": "mail", "key": ""}]') $$, 'QW005',
  'invalid job', 'nor in a list');
select lives_ok($$ select qwf.enqueue('mail', key => null) $$, 'null is no key');
select lives_ok($$ select qwf.enqueue('mail', key => ' ') $$, 'a blank is one');
