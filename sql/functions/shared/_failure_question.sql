-- Deploy qwf:functions/shared/_failure_question
-- Purpose: What a person is asked when a job with on_failure ask fails for good.
-- Guarantees: Where it could not even start there is nothing to retry: what it refers to stays as
--   it is.
-- Called by: _write_uncompleted, _fail_unresolved, _expand_map, _insert_elements, _open_guarded.

begin;

create function _qwf.failure_question(p_error text, p_started boolean default true) returns jsonb
language sql immutable
as $$
  select jsonb_build_object('widget', 'on_failure', 'error', left(p_error, 8192)) || case
    when p_started then jsonb '{"prompt": "It failed. Retry it, skip it, or abort?",
      "options": ["retry", "skip", "abort"]}'
    else '{"prompt": "It cannot start. Skip it, or abort?", "options": ["skip", "abort"]}' end
$$;

commit;
