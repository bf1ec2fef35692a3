-- One job must not stop tick for the whole fleet.
do $$ begin
  perform qwf.enqueue('never', run_at => 'infinity');
exception
  when sqlstate 'QW005' then null;  -- refusing it is as good
end $$;
select lives_ok('select qwf.tick()', 'tick still works');
