-- 9 tests
select qwf.register_workflow('{"name": "ask", "steps": [{"id": "q", "kind": "input",
  "widget": "json", "prompt": {"$coalesce": [{"$from": "photo.title"},
    {"$from": "photo.size.width", "$default": 1}, {"$from": "note.0", "$default": 1}]}}]}');
create temp table run as select qwf.enqueue_run('ask') as id;
create function pg_temp.unread(p_context jsonb) returns jsonb language sql as $$
  select qwf.context_notes(r.id, p_context) -> 'unread' from run r
$$;
select is(pg_temp.unread('{"photo": {"titel": 1}}'), '{"photo.titel": "photo.title"}', 'deep');
select is(pg_temp.unread('{"phto": {"title": 1}}'), '{"phto": "photo"}', 'at the top');
select is(pg_temp.unread('{"photo": {"size": {"widht": 1}}}'),
  '{"photo.size.widht": "photo.size.width"}', 'deeper');
select is(pg_temp.unread('{"photo": {"title": 1, "titel": 1}}'), '{}',
  'what it is like is given, too');
select is(pg_temp.unread('{"photo": {"size": 1}, "colour": 2}'), '{}', 'like nothing');
select is(pg_temp.unread('{"note": {"1": 2}}'), '{}', 'a list may be anything');
select throws_ok($$ select qwf.context_notes(0, '{}') $$, 'QW001', null, 'no such run');
select throws_ok($$ select pg_temp.unread('[]') $$, 'QW005', 'invalid context', 'no object');
select throws_ok('select pg_temp.unread(null)', 'QW005', 'invalid context', 'nothing');
