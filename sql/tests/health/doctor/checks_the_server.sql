-- 4 tests
create function pg_temp.finds(p_subject text) returns setof text language sql as $$
  select d.level || ': ' || d.says || ' -> ' || d.hint
  from qwf.doctor('{server}') d where d.subject = p_subject
$$;
select is_empty($$select pg_temp.finds('synchronous_commit')$$, 'nothing is wrong');
set local synchronous_commit = off;
select is(pg_temp.finds('synchronous_commit'),
  'problem: synchronous_commit is off for all sessions: a crash may lose finished work -> set it '
  'on; agents switch it off themselves where that loses nothing', 'commits that may be lost');
select is_empty($$select pg_temp.finds('default_transaction_read_only')$$, 'it takes writes');
set local default_transaction_read_only = on;
set local role qwf_viewer;
select is(pg_temp.finds('default_transaction_read_only'),
  'note: default_transaction_read_only is on for this login: it can only read -> if an agent or a '
  'producer uses it: alter role qwf_viewer reset default_transaction_read_only;',
  'a login may be meant to read only');
