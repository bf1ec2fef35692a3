-- Deploy qwf:functions/health/_spell_bytes
-- Purpose: Returns a number of bytes as a person writes it: 512 B, 1.5 GiB.
-- Called by: checks of doctor.

begin;

create function _qwf.spell_bytes(p_bytes numeric) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units constant text[] := '{B,KiB,MiB,GiB,TiB,PiB}';
  v_number numeric := p_bytes;
  v_step int := 1;
begin
  while v_number >= 1000 and v_step < cardinality(v_units) loop
    v_number := v_number / 1024;
    v_step := v_step + 1;
  end loop;
  return round(v_number, case when v_step > 1 and v_number < 99.95 then 1 else 0 end)
    || ' ' || v_units[v_step];
end $$;

commit;
