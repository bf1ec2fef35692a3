-- Deploy qwf:functions/erase/_read_parts
-- Purpose: Returns the parts to erase, each once, in the order of their names.
-- Guarantees: Null is all parts but acting_for, which says who acted.
-- Raises: QW005 for an unknown part, and for none.
-- Called by: erase.

begin;

create function _qwf.read_parts(p_parts text[]) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[] := array(select distinct p.part from _qwf.personal_places() p order by p.part);
  v_unknown text;
begin
  if p_parts is null then
    return array_remove(v_known, 'acting_for');
  elsif cardinality(p_parts) = 0 then
    raise exception using errcode = 'QW005', message = 'no part to erase',
      detail = 'parts is an empty list', hint = 'leave parts out to erase all of them';
  end if;
  select coalesce(u, 'null') into v_unknown
  from unnest(p_parts) u
  where coalesce(u <> all (v_known), true)
  limit 1;
  if found then
    raise exception using errcode = 'QW005', message = 'unknown part',
      detail = 'parts: ' || left(v_unknown, 200),
      hint = coalesce(_qwf.did_you_mean(v_unknown, v_known),
        'the parts are ' || array_to_string(v_known, ', '));
  end if;
  return array(select distinct u from unnest(p_parts) u order by u);
end $$;

commit;
