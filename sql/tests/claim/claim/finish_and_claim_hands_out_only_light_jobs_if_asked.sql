select qwf.enqueue('heavy'), qwf.enqueue('light', light => true);
select results_eq($$
  select task, light
  from qwf.finish_and_claim('[]', 'default', 'w', 5, '1 min', light_only => true)
$$, $$ values ('light', true) $$, 'as claim does');
