-- 2 tests
create temp table worker as select qwf.register_worker('box', 'cpu') as id;
select qwf.withdraw_worker(id, 'five failed') from worker;
select results_eq($$ select login, acting_for, reason from qwf.switched_off $$,
  $$ select qwf_test.login(), id, 'five failed' from worker $$, 'the login, for its worker');
select is(_qwf.acting_for(), null, 'which it says for this call alone');
