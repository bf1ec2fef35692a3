begin;
select plan(2);

select is(qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "timeout": 10}]}'), 1, 'once');
select is(qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "timeout": 10.0}]}'), 1,
  'twice');

select * from finish();
rollback;
