-- Deploy qwf:functions/_gate
-- requires: schema/qwf
-- Purpose: What a person is asked when a job with on_failure ask fails for good.
-- Called by: _conclude, _stamp.

begin;

create function qwf._gate(p_error text) returns jsonb
language sql immutable
as $$
  select jsonb_build_object(
    'widget', 'on_failure', 'prompt', 'It failed. Retry it, skip it, or abort?',
    'options', jsonb '["retry", "skip", "abort"]', 'error', left(p_error, 8192))
$$;
comment on function qwf._gate(text) is
  'The question about a failed job, as an input_spec: retry, skip or abort.';
revoke all on function qwf._gate(text) from public;

commit;
