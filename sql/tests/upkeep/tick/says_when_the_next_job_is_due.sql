select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a', run_at => '2030-01-01 00:02'),
  qwf.enqueue('b', run_at => '2030-01-01 00:01:30.5');
select is((qwf.tick() -> 'next_due_s')::numeric, 90.5, 'in seconds');
