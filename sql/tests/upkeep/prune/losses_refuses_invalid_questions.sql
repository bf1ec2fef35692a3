-- 5 tests
select throws_ok($$select * from qwf.losses('lease', '1 s')$$, 'QW005', null,
  'a setting that keeps nothing');
select throws_ok($$select * from qwf.losses('retention', '1 s', 'cpu')$$, 'QW005', null,
  'a setting and a queue');
select throws_ok($$select * from qwf.losses('retention', '-1 s')$$, 'QW005', null,
  'a negative time');
select throws_ok($$select * from qwf.losses(most => -1)$$, 'QW005', null, 'a negative bound');
select throws_ok($$select * from qwf.losses(queue => 'none')$$, 'QW006', null, 'an unknown queue');
