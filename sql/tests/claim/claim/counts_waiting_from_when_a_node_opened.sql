-- A node has its id long before its turn comes; FIFO goes by its turn.
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf_test.claim();
select qwf.enqueue('standalone', queue => 'cpu');
select qwf_test.report('s/a');
select is(qwf_test.claim('cpu', 2), 'claimed standalone, s/b',
  'what was queued before the node opened comes before it');
