-- 3 tests
select throws_ok($$ select qwf.claim('cpu', null) $$, 'QW005', null, 'who would hold the job?');
select throws_ok($$ select qwf.claim('cpu', 'w', lease => '999 ms') $$, 'QW005', null,
  'no worker could renew it in time');
select lives_ok($$ select qwf.claim('cpu', 'w', lease => '1 s') $$, 'a second is enough');
