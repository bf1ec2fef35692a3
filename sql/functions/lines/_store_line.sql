-- Deploy qwf:functions/lines/_store_line
-- Purpose: Keeps what this session knows of the line of a queue. Drops other lines that nobody has
--   asked for in two minutes.
-- Guarantees: A hint in a setting of the session: no row, no lock, nothing shared.
-- Called by: _keep_line, _read_line, _walk_line.

begin;

create function _qwf.store_line(
  p_queue text, p_worker text, p_line _qwf.line, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := _qwf.floor_key(p_queue, p_worker);
begin
  perform _qwf.write_hints('qwf.lines', (
    select coalesce(jsonb_object_agg(l.key, l.value), '{}')
    from jsonb_each(_qwf.read_hints('qwf.lines')) l
    where l.key <> v_key and greatest((l.value ->> 'until')::timestamptz,
      (l.value ->> 'rest')::timestamptz) > p_now - interval '2 min')
    || case when p_line is null then '{}' else jsonb_build_object(v_key, to_jsonb(p_line)) end);
end $$;

commit;
