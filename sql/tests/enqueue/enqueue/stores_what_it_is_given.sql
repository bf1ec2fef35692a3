select qwf.enqueue('mail', '{"to": "ada"}', 'gpu', 7, null, 'k', 3, '[1]', '5 min', 'flux', 8000,
  '{"disk": "nvme"}',
  project => 'p', labels => '{"n": 1}', once => true,
  max_losses => 2, at_most_once => true);
select results_eq($$
  select task, inputs, queue, priority, key, max_attempts, backoff, timeout, required_model,
    vram_mb, requires, project,
    labels, once, max_losses, begun
  from qwf.job_details
$$, $$
  values ('mail', '{"to": "ada"}'::jsonb, 'gpu', 7, 'k', 3, '[1]'::jsonb, interval '5 min', 'flux',
    8000,
    '{"disk": "nvme"}'::jsonb, 'p', '{"n": 1}'::jsonb, true, 2, false)
$$, 'all of it');
