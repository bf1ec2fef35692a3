begin;
select plan(4);

select results_eq('select * from qwf.cell()', 'values (0, 1)', 'one database has one cell');
select is(qwf.enqueue('t') % c.cells, c.cell::bigint, 'to which every job belongs')
from qwf.cell() c;
alter sequence qwf.jobs_id_seq start with 16 increment by 16 restart with 16;
select results_eq('select * from qwf.cell()', 'values (0, 16)', 'the first of 16');
select is(qwf.enqueue('t') % 16, 0::bigint, 'whose ids say so');

select * from finish();
rollback;
