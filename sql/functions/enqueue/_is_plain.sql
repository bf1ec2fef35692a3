-- Deploy qwf:functions/enqueue/_is_plain
-- Purpose: True when the task, the arguments and the labels of a standalone job need no further
--   check. Labels that carry a trace need none.
-- Guarantees: Builds no text of arguments over 10,000 bytes, not even if a table holds them
--   compressed (#> decompresses): see _is_small_job. PostgreSQL inlines it.
-- Called by: enqueue.

begin;

create function _qwf.is_plain(p_task text, p_args jsonb, p_labels jsonb, p_max_bytes int)
returns boolean
language sql stable
return length(p_task) between 1 and 200 and p_task !~ '[[:space:]]'
  and not starts_with(p_task, 'qwf.')
  and jsonb_typeof(p_args) = 'object'
  and case when pg_column_size(p_args #> '{}') <= 10000
    then octet_length(p_args::text) <= least(1000, p_max_bytes) end
  and case
    when p_labels in ('{}', '{"qwf.checked": true}') then true
    when jsonb_typeof(p_labels) = 'object' and pg_column_size(p_labels #> '{}') <= 1000
      and jsonb_typeof(p_labels -> 'traceparent') = 'string'
      and coalesce(jsonb_typeof(p_labels -> 'tracestate') = 'string', true)
    then p_labels - '{traceparent,tracestate}'::text[] in ('{}', '{"qwf.checked": true}') end;

commit;
