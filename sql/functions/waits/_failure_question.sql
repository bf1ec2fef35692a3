-- Deploy qwf:functions/waits/_failure_question
-- Purpose: Returns the question for a person when a job with on_failure ask fails for good.
-- Guarantees: p_maybe: the job runs at most once, and may have run. Who answers has_run completes
--   it, with an output as {"has_run": {…}}; has_not retries it. Offers no retry if the job could
--   not even start: its references would fail again.
-- Called by: _write_ends, _fail_unresolved, _expand_map, _insert_elements, _open_node.

begin;

create function _qwf.failure_question(
  p_error text, p_started boolean default true, p_maybe boolean default false)
returns jsonb
language sql immutable
as $$
  select jsonb_build_object('widget', 'on_failure', 'error', left(p_error, 8192)) || case
    when p_maybe then jsonb '{"prompt": "It may have run. Has it run, or has it not?",
      "options": ["has_run", "has_not", "skip", "abort"]}'
    when p_started then jsonb '{"prompt": "It failed. Retry it, skip it, or abort?",
      "options": ["retry", "skip", "abort"]}'
    else '{"prompt": "It cannot start. Skip it, or abort?", "options": ["skip", "abort"]}' end
$$;

commit;
