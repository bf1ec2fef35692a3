-- 3 tests
select qwf.enqueue('lapsing');
select qwf_test.claim('default');
select qwf.enqueue('due', run_at => qwf.now() + '1 min');
create trigger broken before update on qwf.jobs for each row when (old.status = 'running')
  execute function qwf_test.tg_jammed();
select qwf_test.travel('1 h');
set local client_min_messages = error;
create temp table done as select qwf.tick() as v;
select ok(v -> 'errors' ? 'reclaimed', 'one part failed, and says so') from done;
select is(v -> 'promoted', '1', 'the others were done') from done;
select is(qwf_test.state('due'), 'queued', 'and stay done') ;
