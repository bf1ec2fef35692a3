begin;
select plan(1);

select lives_ok($$ select qwf.echo('w') $$, 'to a worker that nobody knows, too');

select * from finish();
rollback;
