-- Values of a caller are data. The one function that runs text names roles, for migrations.
select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  cross join lateral regexp_replace(p.prosrc, $r$--[^\n]*|'([^']|'')*'$r$, '', 'g') b(code)
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and p.oid <> '_qwf.allow'::regproc
    and b.code ~* '\mexecute\M'
$$, 'no function executes text');
