-- 4 tests
select qwf.enqueue('render', queue => 'gpu', model => 'flux'), qwf_test.travel('1 s');
select qwf.sleep(qwf_test.worker('{"models": ["other"]}'), 'gpu'), qwf.sleep('b', 'cpu');
select is(_qwf.wake_overlooked(), 0, 'no model, or another queue');
select qwf.sleep(qwf_test.worker('{"models": ["flux"]}'), 'gpu');
select is(_qwf.wake_overlooked(), 1, 'but one that fits');
select qwf.pause_queue('gpu');
select is(_qwf.wake_overlooked(), 0, 'unless the queue is paused');
select qwf.resume_queue('gpu'), qwf.wake(s.worker) from qwf.sleepers s;
select is(_qwf.wake_overlooked(), 0, 'or it is awake');
