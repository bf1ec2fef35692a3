-- 2 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
do $$ begin
  perform qwf.enqueue_run('one');
  raise exception 'changed my mind';
exception
  when raise_exception then null;
end $$;
select is_empty('select * from qwf.runs', 'no run');
select is_empty('select * from qwf.jobs', 'and no node of it');
