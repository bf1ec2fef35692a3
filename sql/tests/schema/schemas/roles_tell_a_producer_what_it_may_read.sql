-- 7 tests
select qwf_test.question('confirm');
create temp table asked as select qwf_test.run() as run, qwf_test.job('ask') as job;
grant select on asked to qwf_producer;
select qwf_test.hints($$ select qwf.submit_input((select run from asked), 'other_thing', 'true') $$,
  'see what the run waits for: select qwf.run_status(%)', 'of a node that asks nothing');
select qwf_test.hints($$ select qwf.answer_job((select job from asked), 'true',
    asked => '2000-01-01') $$,
  'read the new question: select * from qwf.why_not(%)', 'of a question that was asked again');
select qwf.submit_input(run, 'ask', 'true') from asked;
select qwf_test.hints($$ select qwf.submit_input((select run from asked), 'ask', 'true') $$,
  'see what the run waits for: select qwf.run_status(%)', 'of an answer that was given');
select qwf_test.hints($$ select qwf.answer_job((select qwf.enqueue('mail')), 'true') $$,
  'see what became of it: select qwf.result(%)', 'of a job that asks nothing');
select lives_ok(
  $$ select qwf_test.as_role('qwf_producer', 'select qwf.run_status((select run from asked))') $$,
  'it may read the run');
select lives_ok(
  $$ select qwf_test.as_role('qwf_producer', 'select qwf.why_not((select job from asked))') $$,
  'and why it waits');
select lives_ok(
  $$ select qwf_test.as_role('qwf_producer', 'select qwf.result((select job from asked))') $$,
  'and the job');
