-- 3 tests
create temp table who as select qwf.register_worker('box', 'qwf.alerts') as one;
select lives_ok($$ select qwf.sleep(one, 'qwf.alerts') from who $$, 'agents deliver messages');
select lives_ok($$ select qwf.stay_asleep(one, 'qwf.alerts') from who $$, 'and stay alive for it');
select throws_ok($$ select qwf.sleep('w', 'qwf.runs') $$, 'QW007', null, 'the engine serves runs');
