select set_eq($$
  select rolname::text from pg_roles
  where rolname in ('qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer')
    and not rolcanlogin and not rolsuper and not rolcreaterole and not rolcreatedb
$$, array['qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer'],
  'the four of them, with no power of their own');
