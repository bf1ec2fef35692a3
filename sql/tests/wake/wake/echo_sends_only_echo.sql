select lives_ok($$ select qwf.echo('w') $$, 'to an unknown worker, too');
