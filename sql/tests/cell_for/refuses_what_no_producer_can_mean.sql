begin;
select plan(3);

select throws_ok($$ select qwf.cell_for('k', 0) $$, 'QW005', null, 'no cell at all');
select throws_ok($$ select qwf.cell_for('k', 1025) $$, 'QW005', null, 'more than there can be');
select throws_ok($$ select qwf.cell_for(repeat('k', 501), 4) $$, 'QW005', null,
  'a key that no job can have');

select * from finish();
rollback;
