-- 3 tests
select results_eq($$select before, kept from qwf.losses('retention')$$,
  $$values (interval '30 days', interval '30 days')$$, 'without a value: the default');
select results_eq($$select before, kept from qwf.losses('minutes_keep', '2 days')$$,
  $$values (interval '14 days', interval '2 days')$$, 'with one');
select qwf.create_queue('own', retention => '10 days');
select results_eq($$select before, kept from qwf.losses(queue => 'own')$$,
  $$values (interval '10 days', interval '30 days')$$, 'a queue goes back to the setting');
