select qwf_test.set_now('2026-01-01 12:00Z');
select results_eq($$ select run_at from qwf.enqueue_many('[{"task": "a"},
  {"task": "a", "run_at": "2026-01-02Z"}, {"task": "a", "run_at": "2025-01-01Z"}]')
  union all
  select run_at from qwf.enqueue_many('[{"task": "b", "key": "k", "run_at": "2026-01-02Z"},
    {"task": "b", "key": "k", "run_at": "2026-01-03Z"}, {"task": "b", "key": "k"},
    {"task": "b", "key": "o", "once": true, "run_at": "2026-01-03Z"},
    {"task": "b", "key": "o", "once": true}, {"task": "b", "key": "d", "debounce": "1 h"}]') $$,
  $$ values (null::timestamptz), ('2026-01-02Z'), (null), ('2026-01-02Z'), ('2026-01-02Z'), (null),
    ('2026-01-03Z'), ('2026-01-03Z'), ('2026-01-01 13:00Z') $$, 'null: as soon as it can');
