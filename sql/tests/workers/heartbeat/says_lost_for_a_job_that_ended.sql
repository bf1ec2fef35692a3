select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table old as select qwf_test.token('a') as token;
select qwf_test.report('a');
select is((select verdict from qwf.heartbeat('w', array[(select token from old)])), 'lost',
  'nothing is held any more');
