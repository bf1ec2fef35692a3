begin;
select plan(3);

select throws_ok($$ select qwf.report_metrics('', '{}') $$, 'QW005', 'not a sample', 'whose?');
select throws_ok($$ select qwf.report_metrics('box', '[]') $$, 'QW005', 'not a sample', 'a list');
select lives_ok($$ select qwf.report_metrics('box', '{"cpu_percent": "much", "gpus": 7}') $$,
  'what is no number is null');

select * from finish();
rollback;
