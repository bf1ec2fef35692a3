begin;
select plan(1);

select matches(qwf.version(), '^[0-9]+[.][0-9]+[.][0-9]+$', 'major.minor.patch');

select * from finish();
rollback;
