begin;
select plan(1);

select is_empty($$ select * from qwf.finish_many('[]') $$, 'nothing to report');

select * from finish();
rollback;
