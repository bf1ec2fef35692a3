-- Deploy qwf:functions/answers/_named_signal
-- Purpose: Replaces the signal of a resolved question by the name that it spells: a text, or the
--   parts of a list, joined by colons.
-- Guarantees: Different lists spell different names: in a part, : and \ get a \ before them. A
--   number spells the same however it is written.
--   Never raises: a part that is not a text or a number, and a name that is too long, is
--   the error of the node.
-- Called by: _open_guarded.

begin;

create function _qwf.named_signal(p_asked _qwf.resolution) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_signal jsonb := p_asked.value -> 'signal';
  v_parts jsonb := case jsonb_typeof(v_signal) when 'array' then v_signal
    else jsonb_build_array(v_signal) end;
  v_name text;
  v_wrong text;
begin
  if v_signal is null then
    return p_asked;
  end if;
  select string_agg(case
        when jsonb_typeof(p.value) = 'number' then trim_scale(p.value::numeric)::text
        when jsonb_typeof(v_signal) = 'array'
          then regexp_replace(p.value #>> '{}', e'[:\\\\]', e'\\\\\\&', 'g')
        else p.value #>> '{}' end, ':' order by p.n),
    min(left(p.value::text, 200)) filter (where jsonb_typeof(p.value) not in ('string', 'number'))
    into v_name, v_wrong
  from jsonb_array_elements(v_parts) with ordinality p (value, n);
  if v_wrong is not null then
    return (null, format('invalid signal: a part is %s, not a text or a number', v_wrong)
      )::_qwf.resolution;
  elsif not _qwf.is_readable_name(v_name) then
    return (null, 'invalid signal: the name must have 1 to 255 bytes that people can read'
    )::_qwf.resolution;
  end if;
  return (p_asked.value || jsonb_build_object('signal', v_name), null)::_qwf.resolution;
end $$;

commit;
