-- 6 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select throws_ok($$ select qwf.enqueue_run('nope') $$, 'QW001', null, 'no such name');
select throws_ok($$ select qwf.enqueue_run('w@2') $$, 'QW001', null, 'no such version');
select throws_ok($$ select qwf.enqueue_run('w@') $$, 'QW001', null, 'no version');
select throws_ok($$ select qwf.enqueue_run('') $$, 'QW001', null, 'no name');
select throws_ok($$ select qwf.enqueue_run(null) $$, 'QW001', null, 'nothing');
select qwf_test.explains($$ select qwf.enqueue_run('w@2') $$, 'workflow%w%has versions 1 to 1',
  'the error says what there is');
