begin;
select plan(2);

select throws_ok($$ select qwf.report_folder(1, gen_random_uuid(), '[]') $$, 'QW005', null,
  'a list');
select throws_ok($$ select qwf.report_folder(1, gen_random_uuid(), null) $$, 'QW005', null, 'null');

select * from finish();
rollback;
