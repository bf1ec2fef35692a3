-- 4 tests
select qwf.enqueue('one', queue => 'gpu'), qwf.enqueue('two', queue => 'gpu', limit_by => 'few')
from qwf.create_limit('few', 1);
select qwf.sleep('a', 'gpu');
select is(_qwf.wake_overlooked(), 0, 'a job queued just now has woken somebody');
select qwf_test.travel('0.3 s');
select is(_qwf.wake_overlooked(), 2, 'later a sleeper is woken for each job');
select qwf.claim('gpu', 'b', 1);
select is(_qwf.wake_overlooked(), 1, 'whether there is a limit or not');
select qwf_test.travel('15 s');
select is(_qwf.wake_overlooked(), 0, 'a sleeper that has not renewed its sleep is ignored');
