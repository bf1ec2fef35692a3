-- 4 tests
select throws_ok($$ select qwf.report_metrics('', '{}') $$, 'QW005', 'invalid sample', 'no host');
select throws_ok($$ select qwf.report_metrics('box', '[]') $$, 'QW005', 'invalid sample', 'a list');
select throws_ok($$ select qwf.report_metrics('box', '{"cpu_pct": 7}') $$, 'QW005', 'unknown key',
  'a value that nobody would see');
select lives_ok($$ select qwf.report_metrics('box', '{"cpu_percent": "much", "gpus": 7}') $$,
  'a value that is not a number becomes null');
