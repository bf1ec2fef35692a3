begin;
select plan(2);

select is(qwf.wake_channel('w'), qwf.wake_channel('w'), 'always the same');
select isnt(qwf.wake_channel('w'), qwf.wake_channel('v'), 'of that worker alone');

select * from finish();
rollback;
