-- 4 tests
select count(qwf.signal('beat', to_jsonb(n))) from generate_series(1, 1000) n;
select throws_ok($$ select qwf.signal('beat', '0') $$, 'QW005', 'too many signals of one name',
  'the next is refused');
select lives_ok($$ select qwf.signal('beat', '0', project => 'other') $$, 'not in another project');
select qwf_test.travel('1 day');
select lives_ok($$ select qwf.signal('beat', '0') $$, 'those that are over do not count');
select is_empty('select * from qwf.check_invariants()', 'all is well');
