-- 3 tests
select qwf.register_worker('box', 'cpu');
select throws_ok('select qwf.begin_generation()', 'QW002', null, 'a live worker');
select lives_ok('select qwf.begin_generation(despite_live => true)', 'unless it is said');
update qwf.workers set last_seen = qwf.now() - interval '1 h';
select lives_ok('select qwf.begin_generation()', 'a worker of the time of the backup is silent');
