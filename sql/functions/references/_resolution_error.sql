-- Deploy qwf:functions/references/_resolution_error
-- Purpose: Puts the SQLSTATE in front of the error of a node whose references could not be
--   resolved.
-- Guarantees: QW005 when a value was found but violates its schema, else QW004. At most about
--   max_error_bytes: a path that a reference computes can be as long as the value it comes from.
-- Called by: _insert_elements, _open_node, _resolve_inputs, _run_outcome, _turn_verdict.

begin;

create function _qwf.resolution_error(p_error text) returns text
language sql stable strict
as $$
  select _qwf.clip(
    case when p_error like 'invalid%' then 'QW005: ' else 'QW004: ' end || p_error,
    (select s.max_error_bytes from qwf.settings s))
$$;

commit;
