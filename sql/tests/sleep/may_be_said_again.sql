begin;
select plan(1);

select qwf_test.set_now('2030-01-01');
select qwf.sleep('w', 'cpu');
select qwf_test.travel('3 s');
select qwf.sleep('w', 'cpu');
select results_eq('select since from qwf.sleepers', $$
  values ('2030-01-01 00:00:03'::timestamptz) $$, 'it still sleeps');

select * from finish();
rollback;
