select count(*) from qwf.enqueue_many(
  '[{"task": "mail", "max_losses": 1}, {"task": "mail", "max_losses": 7}, {"task": "mail"}]');
select is(array(select (j.options).max_losses from qwf.jobs j order by j.id), array[1, 7, null],
  'each its own');
