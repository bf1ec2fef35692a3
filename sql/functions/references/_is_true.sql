-- Deploy qwf:functions/references/_is_true
-- Purpose: True when a resolved skip_if counts as true.
-- Guarantees: False for null, false, 0, "", [], {} and SQL null; true for everything else.
-- Called by: whatever opens a node that has a skip_if.

begin;

create function _qwf.is_true(p_value jsonb) returns boolean
language sql immutable parallel safe
return coalesce(p_value not in ('false', 'null', '0', '""', '[]', '{}'), false);

commit;
