select qwf_test.workflow('one', '[{"id": "a"}]'), qwf_test.workflow('two', '[{"id": "a"}]');
select is((
  select count(distinct id)
  from unnest(array[
    qwf.enqueue_run('one', key => 'k'), qwf.enqueue_run('one', key => 'l'),
      qwf.enqueue_run('two', key => 'k'),
    qwf.enqueue_run('one', key => 'k', project => 'p'), qwf.enqueue_run('one'),
      qwf.enqueue_run('one')]) id), 6::bigint,
  'and runs without a key from all');
