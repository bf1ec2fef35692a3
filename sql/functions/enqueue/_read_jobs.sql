-- Deploy qwf:functions/enqueue/_read_jobs
-- Purpose: Reads and checks the JSON list of jobs given to enqueue_many.
-- Guarantees: Every item gets its defaults and passes the checks of enqueue; a queue is looked up
--   once for consecutive items.
-- Raises: QW001, QW005, QW006, naming the item.
-- Called by: enqueue_many.

begin;

create function _qwf.read_jobs(p_jobs jsonb) returns _qwf.new_job[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item record;
  v_job _qwf.new_job;
  v_where text;
  v_name text;  -- of the last queue looked up
  v_queue record;
  v_jobs _qwf.new_job[] := array[]::_qwf.new_job[];
  v_known text[] := array(
    select a.attname::text from pg_attribute a
    where a.attrelid = '_qwf.new_job'::regclass and a.attname <> 'ord' order by a.attnum);
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception using errcode = 'QW005', message = 'jobs must be a list',
      hint = 'pass a JSON list of objects: [{"task": "greet", "args": {"who": "Ada"}}]';
  end if;
  for v_item in
    select e.value, e.ordinality - 1 as i from jsonb_array_elements(p_jobs) with ordinality e
  loop
    if jsonb_typeof(v_item.value) <> 'object' then
      raise exception using errcode = 'QW005', message = 'invalid job',
        detail = format('[%s]: not an object with the arguments of enqueue: %s',
          v_item.i, _qwf.excerpt(v_item.value)),
        hint = 'an item takes ' || array_to_string(v_known, ', ');
    end if;
    if v_item.value - v_known <> '{}' then
      perform _qwf.check_keys(format('[%s].', v_item.i), v_item.value, v_known);
    end if;
  end loop;
  for v_item in
    select (i.n - 1)::int as ord, jsonb_populate_record(null::_qwf.new_job, i.value) as job
    from jsonb_array_elements(p_jobs) with ordinality i (value, n)
  loop
    v_job := v_item.job;
    v_job.ord := v_item.ord;
    v_job.args := coalesce(v_job.args, '{}');
    v_job.queue := coalesce(v_job.queue, 'default');
    v_job.priority := coalesce(v_job.priority, 100);
    v_job.requires := coalesce(v_job.requires, '{}');
    v_job.on_failure := coalesce(v_job.on_failure, 'fail');
    v_job.project := coalesce(v_job.project, '');
    v_job.labels := coalesce(v_job.labels, '{}');
    v_job.once := coalesce(v_job.once, false);
    v_job.light := coalesce(v_job.light, false);
    v_where := format('[%s].', v_job.ord);
    if v_job.queue is distinct from v_name then
      v_queue := _qwf.look_up_queue(v_job.queue, v_where);
      v_name := v_job.queue;
    end if;
    perform _qwf.check_job(v_job, v_where, v_queue.max_value_bytes);
    v_jobs := v_jobs || v_job;
  end loop;
  return v_jobs;
exception
  when data_exception then  -- text that is not a valid number, time or interval
    raise exception using errcode = 'QW005', message = 'invalid job', detail = left(sqlerrm, 500),
      hint = 'write times as 2026-01-31T12:00Z, intervals as 10 min, numbers as JSON numbers; '
        'nothing was written';
end $$;

commit;
