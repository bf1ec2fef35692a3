-- 3 tests
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c', timeout => '7 s');
select is((select timeout from qwf.claim('default', 'w')), '1 h', 'the setting');
select qwf.create_queue('default', timeout => '5 s');
select is((select timeout from qwf.claim('default', 'w')), '5 s', 'over it the queue''s');
select is((select timeout from qwf.claim('default', 'w')), '7 s', 'over both the job''s');
