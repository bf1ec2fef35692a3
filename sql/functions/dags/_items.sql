-- Deploy qwf:functions/dags/_items
-- Purpose: Returns the objects in a list of nodes or steps, with their positions from 1.
-- Guarantees: Accepts any value, so that one mistake does not hide the others. A value that is not
--   a list gives no rows. An entry that is not an object is left out, but keeps its position.
-- Called by: the functions that check and compile definitions.

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
