-- Deploy qwf:functions/references/_is_true
-- Purpose: Truth of a resolved skip_if.
-- Guarantees: False for null, false, 0, "", [], {} and SQL null; true for everything else.
-- Called by: whoever opens a node that has a skip_if.

begin;

create function _qwf.is_true(p_value jsonb) returns boolean
language sql immutable parallel safe
return coalesce(p_value not in ('false', 'null', '0', '""', '[]', '{}'), false);

commit;
