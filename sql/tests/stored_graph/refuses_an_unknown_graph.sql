begin;
select plan(2);

select throws_ok('select qwf.stored_graph(4711)', 'QW001', 'no such graph', 'one that is gone');
select throws_ok('select qwf.stored_graph(null)', 'QW001', 'no such graph', 'or none');

select * from finish();
rollback;
