-- 2 tests
create temp table who as select qwf.register_worker('box', 'gpu') as one;
select throws_ok($$ select qwf.withdraw_worker('ghost', 'x') $$, 'QW001', 'no such worker',
  'never registered');
select throws_ok($$ select qwf.withdraw_worker(one, 'x', '11 min') from who $$, 'QW005',
  'invalid pause', 'too long');
