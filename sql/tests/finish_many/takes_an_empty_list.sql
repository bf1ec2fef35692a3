begin;
select plan(1);

select is_empty($$ select * from qwf.finish_many('[]') $$, 'nothing to say');

select * from finish();
rollback;
