-- Deploy qwf:functions/references/_is_plain_pattern
-- Purpose: True for a regular expression that takes little time, whatever text it meets.
-- Guarantees: It has at most 200 characters, no back reference, no look-ahead or look-behind, and
--   no count in braces. Does not try it out: counts within counts take seconds to compile.
-- Called by: _apply_filter.

begin;

create function _qwf.is_plain_pattern(p_pattern text) returns boolean
language sql immutable parallel safe
return length(p_pattern) <= 200 and p_pattern !~ E'[\\\\][1-9]|[(][?]<?[=!]|[{]';

commit;
