-- Transactional enqueue: work exists exactly when its transaction commits.
do $$ begin
  perform qwf.enqueue('mail');
  raise exception 'changed my mind';
exception
  when raise_exception then null;
end $$;
select is_empty('select * from qwf.jobs', 'no job');
