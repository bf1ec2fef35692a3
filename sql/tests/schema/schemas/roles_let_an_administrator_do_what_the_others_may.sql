-- 2 tests
select lives_ok($$
  select qwf_test.as_role('qwf_admin',
    'select qwf.create_queue(''night''), qwf.enqueue(''a''), qwf.tick()')
$$, 'functions of every role');
select lives_ok($$ select qwf_test.as_role('qwf_admin', 'select * from qwf.jobs') $$,
  'and it reads what a viewer reads');
