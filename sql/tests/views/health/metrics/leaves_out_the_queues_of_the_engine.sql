select is_empty($$
  select m.name, m.labels from qwf.metrics m
  where m.labels ->> 'queue' like 'qwf.%' and m.value is not null
    and m.name ~ '^qwf_(queue|queued|scheduled|running)_' $$,
  'they are no work of yours, and an autoscaler that adds up all queues must not see them');
