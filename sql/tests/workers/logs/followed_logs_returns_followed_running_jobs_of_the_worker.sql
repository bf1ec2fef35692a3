-- 3 tests
select qwf.enqueue(t) from unnest('{a,b,c}'::text[]) t;
select job_id from qwf.claim('default', 'w', 2);
select job_id from qwf.claim('default', 'other', 1);
select qwf.follow_log(qwf_test.job(t)) from unnest('{a,c}'::text[]) t;
select results_eq($$ select * from qwf.followed_logs('w') $$, $$ values (qwf_test.job('a')) $$,
  'only its own jobs');
select qwf_test.report('a', 'completed');
select is_empty($$ select * from qwf.followed_logs('w') $$, 'not after they have ended');
select qwf_test.travel('11 s');
select is_empty($$ select * from qwf.followed_logs('other') $$,
  'not after the followers have gone');
