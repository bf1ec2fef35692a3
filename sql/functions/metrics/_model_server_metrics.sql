-- Deploy qwf:functions/metrics/_model_server_metrics
-- Purpose: Returns the figures of model servers.
-- Called by: metrics_of.

begin;

create function _qwf.model_server_metrics() returns setof _qwf.metric
language sql stable
as $$
  select m.name, array['host', s.host, 'queue', s.queue, 'server', s.server],
    m.value, m.kind, m.help
  from (select) one
  left join qwf.server_overview s on true
  cross join lateral (values
    ('qwf_server_up', (s.state = 'ready')::int::float8, 'gauge',
      '1 while the model server is ready.'),
    ('qwf_server_inflight', s.inflight::float8, 'gauge', 'Jobs that use it now.'),
    ('qwf_server_starts_total', s.starts::float8, 'counter', 'Times its agent has started it.'),
    ('qwf_server_crashes_total', s.crashes::float8, 'counter', 'Times it ended by itself.'),
    ('qwf_server_load_seconds', s.load_s::float8, 'gauge', 'How long its last start took.'),
    ('qwf_server_tokens_total', s.tokens::float8, 'counter',
      'Tokens generated for completed jobs.'),
    ('qwf_server_prompt_tokens_total', s.prompt_tokens::float8, 'counter',
      'Tokens of their prompts.')
  ) m (name, value, kind, help)
$$;

commit;
