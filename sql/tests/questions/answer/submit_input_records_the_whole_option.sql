-- 6 tests
select qwf_test.question('choose_one',
  '{"options": [{"id": "a1", "name": "cat"}, {"value": 7, "label": "seven"}, "a1", 7.0]}');
create function pg_temp.answer(jsonb) returns jsonb language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1);
  select qwf.enqueue_run('question');
  select j.output -> 'answer' from qwf.jobs j where j.node_id = 'ask' and j.status = 'completed'
  order by j.id desc limit 1 $$;
select is(pg_temp.answer('{"id": "a1", "name": "cat"}'), '{"id": "a1", "name": "cat"}', 'as given');
select is(pg_temp.answer('"a1"'), '"a1"', 'an option goes before a name of another one');
select is(pg_temp.answer('7'), '7', 'also if it is written otherwise');

select qwf_test.question('choose_one', '{"multiple": true, "options": [{"id": "a"}, {"id": "b"}]}');
select is(pg_temp.answer('["b", {"id": "a"}]'), '[{"id": "b"}, {"id": "a"}]', 'each of several');
select is(pg_temp.answer('[]'), '[]', 'none of several');

select qwf_test.question('choose_one', '{"options": [{"id": "a", "words": 3}]}');
select is(pg_temp.answer('"a"'), '{"id": "a", "words": 3}', 'by its id');
