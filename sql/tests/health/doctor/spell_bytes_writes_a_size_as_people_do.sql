select results_eq($$select _qwf.spell_bytes(b) from unnest(
  array[0, 999, 1000, 1536, 102400, 1048576, 5000000000, 2^60]::numeric[]) b$$,
  array['0 B', '999 B', '1.0 KiB', '1.5 KiB', '100 KiB', '1.0 MiB', '4.7 GiB', '1024 PiB'],
  'as qwf does');
