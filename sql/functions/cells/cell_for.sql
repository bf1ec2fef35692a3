-- Deploy qwf:functions/cells/cell_for
-- Purpose: Returns the cell that jobs and runs with this key go to.
-- Guarantees: The CRC-32 of the key in UTF-8, as zlib, PNG and gzip compute it, modulo the number
--   of cells. So a producer in any language finds the same cell without asking. It takes four bits
--   at a time, because a table of 16 numbers is short and fast enough for a key.

begin;

create function qwf.cell_for(key text, cells int) returns int
language plpgsql immutable strict parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_table constant bigint[] := '{
    0, 498536548, 997073096, 651767980, 1994146192, 1802195444, 1303535960, 1342533948,
    3988292384, 4027552580, 3604390888, 3412177804, 2607071920, 2262029012, 2685067896,
    3183342108}';
  v_bytes bytea;
  v_crc bigint := 4294967295;
begin
  if cell_for.cells not between 1 and 1024 then
    raise exception using errcode = 'QW005', message = 'value out of range',
      detail = format('cells: %s', cell_for.cells), hint = 'there are 1 to 1024 cells';
  end if;
  perform _qwf.check_text('key', cell_for.key);
  v_bytes := convert_to(cell_for.key, 'UTF8');
  for v_at in 0 .. length(v_bytes) - 1 loop
    v_crc := v_crc # get_byte(v_bytes, v_at);
    v_crc := (v_crc >> 4) # v_table[1 + (v_crc & 15)::int];
    v_crc := (v_crc >> 4) # v_table[1 + (v_crc & 15)::int];
  end loop;
  return (v_crc # 4294967295) % cell_for.cells;
end $$;
comment on function qwf.cell_for is
  'The cell, from 0, that jobs and runs with this key go to if there are so many cells: the CRC-32 '
  'of the key in UTF-8, modulo the cells. QW005 for a key over 500 bytes.';
call _qwf.allow('qwf.cell_for', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

commit;
