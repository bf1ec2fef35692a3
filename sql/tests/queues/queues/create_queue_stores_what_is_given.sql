select qwf.create_queue('night', '1 min', '2 h', '3 days');
select results_eq($$ select lease, timeout, retention, paused from qwf.queues
where name = 'night' $$, $$
  values (interval '1 min', interval '2 h', interval '3 days', false) $$, 'its own defaults');
