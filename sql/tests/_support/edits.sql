-- A producer whose calls are debounced.

create function qwf_test.edit(p_at text, p_debounce interval default '5 s',
  p_max interval default null, p_text text default '')
returns timestamptz language sql as $$
  select qwf_test.set_now(('2026-01-01 ' || p_at || 'Z')::timestamptz);
  select e.run_at from qwf.enqueue_many(jsonb_build_array(jsonb_build_object('task', 'index',
    'key', 'k', 'key_mode', 'replace', 'args', jsonb_build_object('text', p_text),
    'debounce', p_debounce, 'debounce_max', p_max))) e $$;
comment on function qwf_test.edit is
  'At a time of 2026-01-01, enqueues the job of key k that takes the last text, and returns when '
  'it starts.';
