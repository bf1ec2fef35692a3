select count(*) from qwf.enqueue_many('[{
  "task": "mail", "args": {"to": "ada"}, "queue": "gpu", "priority": 7,
    "run_at": "2999-01-01T00:00Z", "key": "k",
  "max_attempts": 3, "backoff": [1], "timeout": "5 min", "model": "flux", "vram_mb": 8000,
    "requires": {"disk": "nvme"},
  "project": "p", "labels": {"n": 1}, "once": true, "max_losses": 2,
  "at_most_once": true}]');
select results_eq($$
  select task, inputs, queue, priority, status::text, run_at, key, max_attempts, backoff, timeout,
    required_model, vram_mb,
    requires, project, labels, once, max_losses, begun
  from qwf.job_details
$$, $$
  values ('mail', '{"to": "ada"}'::jsonb, 'gpu', 7, 'scheduled', '2999-01-01Z'::timestamptz, 'k', 3,
    '[1]'::jsonb,
    interval '5 min', 'flux', 8000, '{"disk": "nvme"}'::jsonb, 'p', '{"n": 1}'::jsonb, true,
    2, false)
$$, 'all of it');
