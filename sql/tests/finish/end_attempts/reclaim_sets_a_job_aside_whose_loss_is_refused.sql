-- 6 tests
select qwf_test.set_now('2030-01-01 12:00');
select qwf.enqueue(t, queue => 'cpu') from unnest('{cursed,fine,fine}'::text[]) t;
select qwf.claim('cpu', 'w', 3);
create function qwf_test.refuse() returns trigger language plpgsql as $$
begin
  raise exception 'this task may not be lost';
end $$;
create trigger refuse before update on qwf.jobs for each row
  when (new.losses > old.losses and old.task = 'cursed') execute function qwf_test.refuse();
select qwf_test.travel('1 h');
select is((select count(*) from _qwf.reclaim()), 2::bigint, 'the others are taken back');
select results_eq($$ select task, status::text, losses from qwf.jobs order by id $$,
  $$ values ('cursed', 'running', 0), ('fine', 'queued', 1), ('fine', 'queued', 1) $$, 'each');
select is((select last_error from qwf.jobs where task = 'cursed'),
  'lost, and its end is refused: P0001 this task may not be lost', 'it says why');
select is_empty('select _qwf.reclaim()', 'it waits');
drop trigger refuse on qwf.jobs;
select qwf_test.travel('61 s');
select is((select count(*) from _qwf.reclaim()), 1::bigint, 'and is tried again');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
