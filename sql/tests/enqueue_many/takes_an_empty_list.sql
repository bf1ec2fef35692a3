begin;
select plan(1);

select is_empty($$ select qwf.enqueue_many('[]') $$, 'nothing to do');

select * from finish();
rollback;
