begin;
select plan(2);

create temp table me as select qwf.register_worker('box', 'cpu') as id;
select qwf.deregister_worker((select id from me));
select is_empty($$ select * from qwf.heartbeat((select id from me)) $$, 'it is back');
select is((select stopped_at from qwf.workers), null, 'and counts as alive');

select * from finish();
rollback;
