-- 2 tests
select qwf.enqueue('a');
create temp table before as select * from qwf.jobs;
do $$ begin
  perform qwf.claim('default', 'w');
  raise exception 'the connection broke';
exception
  when raise_exception then null;
end $$;
select results_eq('select * from qwf.jobs', 'select * from before',
  'a claim that did not commit never was');
select is(qwf_test.claim('default'), 'claimed a', 'and the job is there for the next');
