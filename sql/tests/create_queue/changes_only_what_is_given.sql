begin;
select plan(1);

select qwf.create_queue('night', '1 min', '2 h');
update qwf.queues set paused = true where name = 'night';
select qwf.create_queue('night', timeout => '5 h');
select results_eq($$ select lease, timeout, retention, paused from qwf.queues
where name = 'night' $$, $$
  values (interval '1 min', interval '5 h', null::interval, true) $$, 'the rest stays');

select * from finish();
rollback;
