select is((
  select count(distinct id)
  from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', 't', 'args',
    jsonb_build_object('n', n)))
    from generate_series(1, 1000) n)) id), 1000::bigint, 'in one statement');
