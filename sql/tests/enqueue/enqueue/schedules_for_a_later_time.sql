select qwf_test.set_now('2030-01-01');
select qwf.enqueue('later', run_at => '2030-01-01 00:00:01'),
  qwf.enqueue('now', run_at => '2030-01-01'),
  qwf.enqueue('past', run_at => '1999-01-01');
select results_eq('select task, status::text, run_at from qwf.jobs order by id', $$
  values ('later', 'scheduled', '2030-01-01 00:00:01'::timestamptz),
    ('now', 'queued', '2030-01-01'),
    ('past', 'queued', '1999-01-01') $$, 'what is past is due');
