select set_eq($$ select indexrelid::regclass::text from pg_index
  where indrelid = 'qwf.jobs'::regclass $$,
  array['qwf.jobs_pkey', 'qwf.jobs_claim', 'qwf.jobs_claim_lane',
    'qwf.jobs_keyed', 'qwf.jobs_running', 'qwf.jobs_due_or_failed', 'qwf.jobs_elements',
    'qwf.jobs_node', 'qwf.jobs_key'],
  'each further index of jobs costs every enqueue, claim and finish');
