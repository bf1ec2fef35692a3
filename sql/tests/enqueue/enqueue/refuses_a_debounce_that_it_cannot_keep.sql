-- 12 tests
create function pg_temp.refused(p_item jsonb, p_says text) returns text language sql as $$
  select qwf_test.explains(format($q$ select qwf.enqueue_many(%L) $q$,
    jsonb_build_array(jsonb_build_object('task', 'index', 'debounce', '5 s') || p_item)),
    '[0].' || p_says, p_item::text) $$;
select pg_temp.refused('{}', 'debounce: needs a key, and key_mode keep or replace');
select pg_temp.refused('{"key": "k", "key_mode": "refuse"}',
  'debounce: needs a key, and key_mode keep or replace');
select pg_temp.refused('{"key": "k", "once": true}',
  'debounce: needs a key, and key_mode keep or replace');
select pg_temp.refused('{"key": "k", "run_at": "2030-01-01Z"}',
  'debounce: not with run_at, which it sets');
select pg_temp.refused('{"key": "k", "debounce": "0 s"}', 'debounce: positive, at most a year');
select pg_temp.refused('{"key": "k", "debounce": "-1 s"}', 'debounce: positive, at most a year');
select pg_temp.refused('{"key": "k", "debounce": "367 days"}',
  'debounce: positive, at most a year');
select pg_temp.refused('{"key": "k", "debounce_max": "4 s"}',
  'debounce_max: at least debounce, at most ten years');
select pg_temp.refused('{"key": "k", "debounce_max": "11 years"}',
  'debounce_max: at least debounce, at most ten years');
select pg_temp.refused('{"key": "k", "debounce": null, "debounce_max": "1 h"}',
  'debounce_max: needs debounce');
select throws_ok($$ select qwf.enqueue('index', debounce => '5 s') $$, 'QW005', 'invalid job',
  'enqueue refuses it, too');
select lives_ok($$ select qwf.enqueue('index', key => 'k', debounce => '5 s',
  debounce_max => '5 s') $$, 'but both may be the same');
