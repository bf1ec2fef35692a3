-- Transactional enqueue: work exists exactly when its transaction commits.
begin;
select plan(1);

do $$ begin
  perform qwf.enqueue('mail');
  raise exception 'changed my mind';
exception
  when raise_exception then null;
end $$;
select is_empty('select * from qwf.jobs', 'no job');

select * from finish();
rollback;
