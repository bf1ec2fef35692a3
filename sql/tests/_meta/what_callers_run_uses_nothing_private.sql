-- A public function that runs with the rights of its caller may call no private function: nobody
-- but the owner may use the schema _qwf.
select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  where p.pronamespace = 'qwf'::regnamespace and not p.prosecdef
    and p.prosrc ~ '_qwf[.]'
$$, 'what runs as its caller is public all the way');
