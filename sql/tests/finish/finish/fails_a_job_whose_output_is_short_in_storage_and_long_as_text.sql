-- A number of many digits is short as it is stored and long as it is read.
select qwf.enqueue('a');
select qwf_test.attempt('a',
  output => jsonb_build_object('x', array_fill(1e131000::numeric, array[9])));
select is(qwf_test.state('a'), 'failed', 'its text has more than 1 MiB');
