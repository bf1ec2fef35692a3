-- Deploy qwf:functions/walks/_store_floor
-- Purpose: Stores a floor of this session under a name; null: drops it. Drops others that nobody
--   has asked for in two minutes.
-- Called by: _keep_floor, _advance_floor.

begin;

create function _qwf.store_floor(p_key text, p_floor _qwf.floor, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.write_hints('qwf.floors', (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}')
    from jsonb_each(_qwf.read_hints('qwf.floors')) f
    where f.key <> p_key and (f.value ->> 'until')::timestamptz > p_now - interval '2 min')
    || case when p_floor is null then '{}' else jsonb_build_object(p_key, to_jsonb(p_floor)) end);
end $$;

commit;
