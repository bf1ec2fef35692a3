-- What one producer enqueues must not stop the clock for the whole fleet.
begin;
select plan(1);

do $$ begin
  perform qwf.enqueue('never', run_at => 'infinity');
exception
  when sqlstate 'QW005' then null;  -- refusing it is as good
end $$;
select lives_ok('select qwf.tick()', 'time goes on');

select * from finish();
rollback;
