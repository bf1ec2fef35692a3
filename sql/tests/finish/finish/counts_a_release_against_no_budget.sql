select qwf.enqueue('a');
do $$ begin
  for n in 1 .. 10 loop
    perform qwf_test.attempt('a', 'released');
  end loop;
end $$;
select results_eq('select status::text, attempt, failures, losses from qwf.jobs', $$
  values ('queued', 10, 0, 0) $$, 'however often');
