-- Deploy qwf:functions/read/_unread_keys
-- Purpose: Returns the keys of an object that nobody reads and that look like missing ones.
-- Guarantees: Looks at the first 1,000 keys of each object. None if the whole object is read.
-- Called by: context_notes.

begin;

create function _qwf.unread_keys(p_value jsonb, p_read jsonb[], p_place text)
returns table (path text, meant text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text[];
  v_key text;
  v_inner jsonb;
  v_below jsonb[];
begin
  if exists (select from unnest(p_read) r where jsonb_typeof(r -> 0) is distinct from 'string') then
    return;
  end if;
  v_missing := array(select distinct r ->> 0 from unnest(p_read) r where not p_value ? (r ->> 0));
  for v_key, v_inner in select k.key, k.value from jsonb_each(p_value) k limit 1000 loop
    v_below := array(select r - 0 from unnest(p_read) r where r ->> 0 = v_key);
    if v_below = '{}' then
      path := p_place || v_key;
      meant := p_place
        || substring(_qwf.did_you_mean(v_key, v_missing) from '^did you mean (.*)[?]$');
      if meant is not null then
        return next;
      end if;
    elsif jsonb_typeof(v_inner) = 'object' then
      return query
        select u.path, u.meant from _qwf.unread_keys(v_inner, v_below, p_place || v_key || '.') u;
    end if;
  end loop;
end $$;

commit;
