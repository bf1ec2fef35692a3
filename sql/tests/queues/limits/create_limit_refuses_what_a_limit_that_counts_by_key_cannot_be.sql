-- 10 tests
select throws_ok($$ select qwf.create_limit('customer', 101, keyed => true) $$, 'QW005',
  'a keyed limit allows 1 to 100 at once');
select throws_ok($$ select qwf.create_limit('customer', starts => 101, keyed => true) $$, 'QW005',
  'a keyed limit allows 1 to 100 starts in a period');
select throws_ok($$ select qwf.create_limit('customer:a', 2, keyed => true) $$, 'QW005',
  'the name of a keyed limit has no colon');
select qwf.create_limit('customer', 2, keyed => true), qwf.create_limit('mail', 2);
select throws_ok($$ select qwf.enqueue('t', limit_by => 'customer') $$, 'QW005',
  'limit "customer" counts by key');
select throws_ok($$ select qwf.enqueue('t', limit_by => 'customer:') $$, 'QW005',
  'limit "customer" counts by key');
select throws_ok($$ select qwf.enqueue('t', limit_by => 'mail:a') $$, 'QW001', 'no such limit');
select throws_ok($$ select qwf.create_limit('customer:a', 2) $$, 'QW005',
  'limit "customer" counts by key');
select throws_ok($$ select qwf.create_limit('customer', 2, keyed => false) $$, 'QW005',
  'whether a limit counts by key cannot change');
select throws_ok($$ select qwf.create_limit('mail', 2, keyed => true) $$, 'QW005',
  'whether a limit counts by key cannot change');
select lives_ok($$ select qwf.enqueue('t', limit_by => 'customer:Acme & Co: 7') $$,
  'a key may be any text');
