select qwf_test.set_now('2030-01-01');
select qwf.sleep('gone', 'cpu');
select qwf_test.travel('1 h');
select qwf.sleep('there', 'cpu');
select qwf.tick();
select results_eq('select worker from qwf.sleepers', array['there'],
  'the row of a worker that died asleep is deleted');
