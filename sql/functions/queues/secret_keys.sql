-- Deploy qwf:functions/queues/secret_keys
-- Purpose: Returns the words by which readers know what may be a secret.
-- Guarantees: Every role that may read a value may read them.

begin;

create function qwf.secret_keys() returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$select s.secret_keys from qwf.settings s$$;
comment on function qwf.secret_keys is
  'Returns the setting secret_keys: qwf and its page hide texts below a key that has one of these '
  'words in it.';
call _qwf.allow('qwf.secret_keys', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

commit;
