-- 5 tests
select throws_ok($$ select qwf.mark_failures('t', 's') $$, 'QW005');
select throws_ok($$ select qwf.mark_failures(null, 's', seen => true) $$, 'QW005');
select throws_ok($$ select qwf.mark_failures('t', 's', snooze => '-1 s') $$, 'QW005');
select throws_ok($$ select qwf.mark_failures('t', 's', snooze => '367 days') $$, 'QW005');
select throws_ok($$ select qwf.mark_failures('t', 's', note => repeat('x', 2001)) $$, 'QW005');
