select matches(qwf.wake_channel(E'bo''x; "drop" ü\n' || repeat('x', 500)), '^[a-z][a-z0-9_]{1,62}$',
  'LISTEN takes it');
