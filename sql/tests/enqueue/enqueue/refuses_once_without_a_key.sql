-- 5 tests
select throws_ok($$ select qwf.enqueue('mail', once => true) $$, 'QW005', 'invalid job',
  'nothing would stay taken');
select qwf_test.explains($$ select qwf.enqueue('mail', once => true) $$, 'once: needs a key%',
  'it is named');
select throws_ok($$ select qwf.enqueue_many('[{"task": "mail", "once": true}]') $$, 'QW005',
  'invalid job', 'nor in a list');
select lives_ok($$ select qwf.enqueue('mail', once => false) $$, 'false needs none');
select lives_ok($$ select qwf.enqueue_many('[{"task": "mail", "once": false}]') $$,
  'nor does it in a list');
