select qwf.enqueue('mail', priority => null, requires => null, project => null, labels => null,
  once => null);
select results_eq('select priority, requires, project, labels, once from qwf.jobs', $$
  values (100, '{}'::jsonb, '', '{}'::jsonb, false) $$, 'where there is one');
