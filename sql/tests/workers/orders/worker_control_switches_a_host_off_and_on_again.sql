-- 4 tests
select qwf.worker_control('box', 'gpu', 'off', 'drain', 'ann', 'new card');
select results_eq($$
  select desired_state, stop_policy, login, requested_by, reason from qwf.worker_controls
$$, $$ values ('off', 'drain', qwf_test.login(), 'ann', 'new card') $$,
  'off, how, by whom and why');
select isnt_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$,
  'it should not serve');
select qwf.worker_control('box', 'gpu', 'on');
select results_eq($$
  select desired_state, login, requested_by, reason from qwf.worker_controls
$$, $$
  values ('on', qwf_test.login(), null::text, null::text)
$$, 'on, by the user of the database');
select is_empty($$ select from qwf.switched_off where (host, queue) = ('box', 'gpu') $$,
  'it should serve');
