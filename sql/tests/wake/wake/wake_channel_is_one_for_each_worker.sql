-- 2 tests
select is(qwf.wake_channel('w'), qwf.wake_channel('w'), 'always the same');
select isnt(qwf.wake_channel('w'), qwf.wake_channel('v'), 'of that worker alone');
