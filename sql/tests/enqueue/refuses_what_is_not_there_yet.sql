begin;
select plan(6);

select throws_ok($$ select qwf.enqueue('mail', limit_by => 'gpu0') $$, 'QW003', 'not yet supported',
  'limit_by');
select throws_ok($$ select qwf.enqueue('mail', on_failure => 'ask') $$, 'QW003',
  'not yet supported', 'on_failure');
select throws_ok($$ select qwf.enqueue('mail', on_failure => 'continue') $$, 'QW003',
  'not yet supported', 'on_failure');
select throws_ok($$ select qwf.enqueue('mail', expires => '1 h') $$, 'QW003', 'not yet supported',
  'expires');
select qwf_test.explains($$ select qwf.enqueue('mail', expires => '1 h') $$, '%expires%',
  'the error names the argument');
select lives_ok($$ select qwf.enqueue('mail', on_failure => 'fail') $$,
  'to fail is what it does anyway');

select * from finish();
rollback;
