begin;
select plan(1);

select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.attempt('a', 'fatal', error => E'boom\nat line 1');
select qwf_test.attempt('b');
select is((select string_agg(task || ' ' || error, ', ') from qwf.failed_jobs), 'a boom',
  'the first line of it');

select * from finish();
rollback;
