-- 9 tests
select qwf.enqueue('a', '{"to": "anna"}', labels => '{"person": "42"}');
select qwf_test.claim('default', 1);
select qwf_test.report('a', 'fatal');
select qwf.retry_job(qwf_test.job('a'), '{"to": "eve"}');
select qwf_test.claim('default', 1);
select qwf_test.report('a', 'fatal');
update qwf.jobs set acting_for = 'anna';

select lives_ok($$ select qwf.erase('{"label": {"person": "42"}}', '{args}') $$);
select ok(inputs ? '$erased' and labels = '{"person": "42"}' and acting_for = 'anna'
  and erased_parts = '{args}', 'only the arguments are gone') from qwf.jobs;
select is((select detail #>> '{old_args,to}' from qwf.event_overview where kind = 'retried'),
  'anna',
  'an event still has the old ones');
select lives_ok($$ select qwf.erase('{"label": {"person": "42"}}') $$);
select ok(not detail ? 'old_args', 'now it has not') from qwf.event_overview where kind = 'retried';
select is((select acting_for from qwf.jobs), 'anna', 'who has acted stays');
select lives_ok(format($$ select qwf.erase('{"ids": [%s]}', '{acting_for}') $$, qwf_test.job('a')));
select is((select acting_for from qwf.jobs), null, 'unless that is asked for');
select is((select erased_parts from qwf.jobs),
  '{acting_for,answers,args,context,errors,events,key,labels,logs,output,questions}',
  'the job knows what is gone');
