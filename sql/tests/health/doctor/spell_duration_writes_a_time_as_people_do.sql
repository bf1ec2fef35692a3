select results_eq($$select _qwf.spell_duration(make_interval(secs => s)) from unnest(
  array[0, 1.25, 9.94, 9.96, 59.4, 59.6, 600, 3599.7, 3661, 172799, 172800, 360000]) s$$,
  array['0.0 s', '1.3 s', '9.9 s', '10 s', '59 s', '1 min 00 s', '10 min 00 s', '1 h 00 min',
    '1 h 01 min', '47 h 59 min', '2 d 00 h', '4 d 04 h'], 'as qwf does');
