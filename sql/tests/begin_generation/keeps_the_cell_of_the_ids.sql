begin;
select plan(2);

alter sequence qwf.jobs_id_seq increment by 16 start with 3 restart with 3;
select qwf.enqueue('before');
select qwf.begin_generation();
select is(qwf.enqueue('after') % 16, 3::bigint, 'the same cell');
select ok(qwf_test.job('after') >= 1000000, 'past a million');

select * from finish();
rollback;
