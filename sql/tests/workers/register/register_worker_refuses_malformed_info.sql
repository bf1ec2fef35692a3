-- 12 tests
select throws_ok($$ select qwf.register_worker('', 'cpu') $$, 'QW005', 'invalid worker', 'no host');
select throws_ok($$ select qwf.register_worker(null, 'cpu') $$, 'QW005', 'invalid worker',
  'no host either');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '[]') $$, 'QW005', 'invalid worker',
  'a list');
select throws_ok($$ select qwf.register_worker('box', 'cpu', null) $$, 'QW005', 'invalid worker',
  'null');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"labels": ["a"]}') $$, 'QW005',
  'invalid worker',
  'labels without values');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"slots": "many"}') $$, 'QW005',
  'invalid worker',
  'slots that are no number');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"slots": 0}') $$, 'QW005',
  'invalid worker',
  'no slot');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"tasks": 7}') $$, 'QW005',
  'invalid worker',
  'tasks that are no list');
select throws_ok($$ select qwf.register_worker('box', 'cpu', '{"task": ["a"]}') $$, 'QW005',
  'unknown key', 'a mistyped key would mean all tasks');
select qwf_test.explains($$ select qwf.register_worker('box', 'cpu', '{"task": ["a"]}') $$,
  'info.task', 'the error names it');
create function pg_temp.takes(p_path text) returns boolean
language plpgsql
as $$
begin
  perform qwf.register_worker('box', 'cpu', jsonb_build_object('out_root', p_path));
  return true;
exception
  when sqlstate 'QW005' then
    return false;
end $$;
select set_eq($$
  select v.path
  from unnest(array['', 'out', '~/out', '../out', '/srv/../etc', '/srv/..', E'/srv/a\nb', E'/a\x1b',
    '/' || repeat('x', 4096), '/' || repeat('x', 4095), '/', '/srv/..out/a b', null]) v (path)
  where pg_temp.takes(v.path) $$,
  array['/' || repeat('x', 4095), '/', '/srv/..out/a b', null],
  'a folder that cannot be found by its name');
select qwf_test.explains($$ select qwf.register_worker('', 'cpu') $$, '%host%',
  'the error says what is missing');
