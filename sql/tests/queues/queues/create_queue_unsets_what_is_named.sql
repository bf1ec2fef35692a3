-- 9 tests
select qwf.create_queue('night', '1 min', '2 h', '3 days', 4, 'pack', false, 'ask');
select qwf.create_queue('night', timeout => '5 min', unset => '{lease}');
select results_eq($$ select lease, timeout, retention, max_running, placement, keep_completed,
  on_failure from qwf.queues where name = 'night' $$, $$
  values (null::interval, interval '5 min', interval '3 days', 4, 'pack', false, 'ask') $$,
  'that alone, beside what is given');
select qwf.create_queue('night', unset =>
  '{lease,timeout,retention,max_running,placement,keep_completed,on_failure}');
select qwf.create_queue('plain');
select is(n, p, 'everything is as in a queue that was never set')
from
  (select to_jsonb(q) - '{name,created_at}'::text[] from qwf.queues q where name = 'night') a (n),
  (select to_jsonb(q) - '{name,created_at}'::text[] from qwf.queues q where name = 'plain') b (p);
select is_empty($$ select from qwf.limits where name = 'queue:night' $$, 'its limit is gone');
select lives_ok($$ select qwf.create_queue('night', unset => '{max_running}') $$,
  'what is unset already stays so');
select lives_ok($$ select qwf.create_queue('new', unset => '{}') $$, 'nothing is named');
select throws_ok($$ select qwf.create_queue('night', unset => '{leese}') $$, 'QW005',
  'setting cannot be unset', 'no setting');
select qwf_test.hints($$ select qwf.create_queue('night', unset => '{leese}') $$,
  'did you mean lease?%', 'it suggests one');
select throws_ok($$ select qwf.create_queue('night', unset => array[null]) $$, 'QW005',
  'setting cannot be unset', 'null is none');
select qwf_test.hints($$ select qwf.create_queue('night', lease => '1 min', unset => '{lease}') $$,
  '%not both%', 'a value and unset contradict each other');
