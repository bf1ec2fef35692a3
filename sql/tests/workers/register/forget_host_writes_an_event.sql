-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_worker('box', 'cpu'), qwf.worker_control('box', 'cpu', 'off');
select qwf_test.travel('1 day');
select qwf.forget_host('box'), qwf.forget_host('box');
select results_eq($$ select kind, subject, login from qwf.audit order by id $$, $$ values
  ('worker_off', 'box', qwf_test.login()), ('worker_stopped', 'box', qwf_test.login()),
  ('worker_on', 'box', qwf_test.login()), ('host_forgotten', 'box', qwf_test.login()) $$, 'once');
select is((select detail from qwf.audit where kind = 'host_forgotten'),
  '{"workers": 1, "orders": 1}', 'with what is forgotten');
