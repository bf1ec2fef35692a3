-- Deploy qwf:functions/references/_resolution_error
-- Purpose: The error of a node whose references gave no usable value, with its SQLSTATE in front.
-- Guarantees: QW005 for a value that was found but breaks its schema, QW004 for all else.
-- Called by: _insert_elements, _open_guarded, _resolve_inputs.

begin;

create function _qwf.resolution_error(p_error text) returns text
language sql immutable strict
as $$
  select case when p_error like 'invalid%' then 'QW005: ' else 'QW004: ' end || p_error
$$;

commit;
