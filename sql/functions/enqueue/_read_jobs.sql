-- Deploy qwf:functions/enqueue/_read_jobs
-- Purpose: Reads the JSON list of jobs given to enqueue_many.
-- Guarantees: Every item gets its defaults, and has no key that would be ignored.
-- Raises: QW005, naming the item.
-- Called by: enqueue_many, _option_problems, _send_messages, _start_scheduled.

begin;

create function _qwf.read_jobs(p_jobs jsonb) returns _qwf.new_job[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
  v_known text[] := array(
    select a.attname::text from pg_attribute a
    where a.attrelid = '_qwf.new_job'::regclass and a.attname <> 'ord' order by a.attnum);
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception using errcode = 'QW005', message = 'jobs must be a list',
      hint = 'pass a JSON list of objects: [{"task": "greet", "args": {"who": "Ada"}}]';
  end if;
  select e.value, format('[%s]', e.ordinality - 1) as place into v_bad
  from jsonb_array_elements(p_jobs) with ordinality e
  where case when jsonb_typeof(e.value) = 'object' then e.value - v_known <> '{}' else true end
  order by e.ordinality
  limit 1;
  if jsonb_typeof(v_bad.value) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid job',
      detail = format('%s: not an object with the arguments of enqueue: %s',
        v_bad.place, _qwf.excerpt(v_bad.value)),
      hint = 'an item may have ' || array_to_string(v_known, ', ');
  elsif found then
    perform _qwf.check_keys(v_bad.place || '.', v_bad.value, v_known);
  end if;
  return (
    select array_agg((
      i.ordinality - 1, i.task, coalesce(i.args, '{}'), coalesce(i.queue, 'default'),
      coalesce(i.priority, 100), i.run_at, i.key, i.max_attempts, i.backoff, i.timeout, i.model,
      i.vram_mb, coalesce(i.requires, '{}'), i.limit_by, i.on_failure, i.expires,
      coalesce(i.project, ''), case when i.notify is null then coalesce(i.labels, '{}')
        else _qwf.with_notify(i.labels, i.notify) end, coalesce(i.once, false),
      coalesce(i.light, false), i.max_losses, i.key_mode, i.debounce,
      i.debounce_max, i.notify, i.at_most_once)::_qwf.new_job)
    from jsonb_populate_recordset(null::_qwf.new_job, p_jobs) with ordinality i);
exception
  when data_exception then  -- text that is not a valid number, time or interval
    raise exception using errcode = 'QW005', message = 'invalid job', detail = left(sqlerrm, 500),
      hint = 'write times as 2026-01-31T12:00Z, intervals as 10 min, numbers as JSON numbers; '
        'nothing was written';
end $$;

commit;
