-- Deploy qwf:functions/graphs/_items
-- Purpose: The objects of a list of nodes or steps, with their positions from 1.
-- Guarantees: Tolerates anything: what is no list has no rows, what is no object is left out (its
--   position stays taken), so that one mistake does not hide the others.
-- Called by: the checks and the compilation of definitions.

begin;

create function _qwf.items(p_list jsonb) returns table (place int, id text, item jsonb)
language sql immutable
as $$
  select i.place::int, i.item ->> 'id', i.item
  from jsonb_array_elements(_qwf.as_list(p_list))
    with ordinality as i (item, place)
  where jsonb_typeof(i.item) = 'object'
$$;

commit;
