-- 5 tests
create function pg_temp.register(p_from text, p_options text default
  '[{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]') returns text
language sql as $$
  select format($sql$ select qwf.register_workflow(%L) $sql$, jsonb_build_object(
    'name', 'lanes', 'steps', jsonb_build_array(
      jsonb_build_object('id', 't', 'kind', 'input', 'widget', 'turnout', 'target', 'path',
        'options', p_options::jsonb),
      jsonb_build_object('id', 'lane', 'node', 'lane', 'queue', 'default', 'depends_on',
        jsonb_build_array('t'), 'skip_if', jsonb_build_object('$from', p_from, '$ne', 'a')))));
$$;
select throws_ok(pg_temp.register('t.path'), 'QW003', null, 'an option is not a text');
select is((select p.hint from _qwf.reference_problems(
    '{"$from": "t.path", "$ne": "a"}', 'x', '{"t": {"target": "path", "is_option": true}}') p),
  'compare its value: {"$from": "t.path.value", …}', 'it says what to write');
select lives_ok(pg_temp.register('t.path.value'), 'its value is one');
select lives_ok(pg_temp.register('t.path', '["a", "b"]'), 'so are options that are texts');
select qwf.enqueue_run('lanes');
select qwf.submit_input(qwf_test.run(), 't', '"a"');
select is(qwf_test.state('lane'), 'queued', 'and the lane runs');
