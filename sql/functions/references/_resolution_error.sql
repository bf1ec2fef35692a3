-- Deploy qwf:functions/references/_resolution_error
-- Purpose: Puts the SQLSTATE in front of the error of a node whose references could not be
--   resolved.
-- Guarantees: QW005 when a value was found but violates its schema, else QW004.
-- Called by: _insert_elements, _open_node, _resolve_inputs.

begin;

create function _qwf.resolution_error(p_error text) returns text
language sql immutable strict
as $$
  select case when p_error like 'invalid%' then 'QW005: ' else 'QW004: ' end || p_error
$$;

commit;
