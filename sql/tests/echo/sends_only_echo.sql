begin;
select plan(1);

select lives_ok($$ select qwf.echo('w') $$, 'to an unknown worker, too');

select * from finish();
rollback;
