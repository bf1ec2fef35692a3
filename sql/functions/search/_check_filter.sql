-- Deploy qwf:functions/search/_check_filter
-- Purpose: Refuses a filter that cannot mean what its writer thinks.
-- Raises: QW005 for anything but an object, for more than 64 KiB, for an unknown key or status
--   (naming the nearest known one), and for a value of the wrong kind.
-- Called by: _read_filter.

begin;

create function _qwf.check_filter(p_filter jsonb, p_known text[], p_statuses text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
  v_key text;
begin
  if jsonb_typeof(p_filter) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = coalesce(_qwf.excerpt(p_filter), 'null'),
      hint = 'pass a JSON object such as {"status": "failed"}';
  end if;
  perform _qwf.check_json('filter', p_filter);
  perform _qwf.check_keys('filter.', p_filter, p_known);
  for v_status in
    select jsonb_array_elements_text(case jsonb_typeof(p_filter -> 'status')
      when 'array' then p_filter -> 'status' when 'null' then '[]'
      else jsonb_build_array(p_filter -> 'status') end)
    where p_filter ? 'status'
  loop
    if coalesce(v_status <> all (p_statuses), true) then
      raise exception using errcode = 'QW005', message = 'unknown status',
        detail = 'filter.status: ' || coalesce(left(v_status, 200), 'null'),
        hint = coalesce(_qwf.did_you_mean(v_status, p_statuses),
          'the states are ' || array_to_string(p_statuses, ', '));
    end if;
  end loop;
  select min(f.key) into v_key
  from jsonb_each(p_filter - 'status' - 'args') f
  where jsonb_typeof(f.value) not in (
    'null', case when f.key = 'labels' then 'object'
      when f.key in ('run_id', 'parent') then 'number'
      when f.key = 'children' then 'boolean' else 'string' end);
  if v_key is not null then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = format('filter.%s: %s', v_key, _qwf.excerpt(p_filter -> v_key)),
      hint = 'labels is an object, run_id and parent are numbers, children is true or false, '
        'status a text or a list, args any value, everything else a text';
  end if;
end $$;

commit;
