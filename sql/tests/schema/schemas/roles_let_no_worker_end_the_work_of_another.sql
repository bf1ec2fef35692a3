-- 9 tests
-- All that a worker can do to the job of another without its token is to say, under the name of
-- that one, that it goes: then the job is queued again, and nothing is counted.
select qwf.enqueue('mail');
select is((select count(*)::int from qwf.claim('default', 'honest')), 1, 'one worker has a job');
create temp table forged as
select overlay(token::text placing '000000000000' from 25) as token from qwf.jobs;
grant select on forged to public;
select lives_ok(format($$
  select qwf_test.as_role('qwf_worker', $f$
    create temp table said as
    select v.verdict
    from forged f
    cross join lateral (
      select qwf.finish(%1$s, f.token::uuid, 'completed')
      union all select qwf.finish(%1$s, null, 'cancelled')
      union all select qwf.progress(%1$s, f.token::uuid, 1)
      union all select h.verdict from qwf.heartbeat('honest', array[f.token::uuid], '1 day') h
      union all select h.verdict from qwf.heartbeat('rogue', array[f.token::uuid]) h
    ) v (verdict)$f$)
$$, qwf_test.job('mail')), 'another guesses at the token');
select results_eq('select distinct verdict from said', array['lost'], 'in vain');
select is(qwf_test.state('mail'), 'running', 'the job goes on');
select is((select lease_expires_at - claimed_at from qwf.jobs), (select lease from qwf.settings),
  'with the lease it had');
select throws_ok($$ select qwf_test.as_role('qwf_worker',
  'select qwf.claim(''default'', ''rogue'', 1, ''1 year'')') $$, 'QW005', null,
  'nobody gets work forever');
select lives_ok($$ select qwf_test.as_role('qwf_worker',
  'select qwf.deregister_worker(''honest'')') $$, 'who knows a name can sign off in it');
select results_eq('select status::text, failures, losses from qwf.jobs',
  $$ values ('queued', 0, 0) $$, 'the work waits for the next, and nothing is counted');
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');
