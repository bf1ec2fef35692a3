-- Deploy qwf:functions/queues/_new_settings
-- Purpose: Lists the settings of a queue that a call changes: those with a value, and those that
--   get their default again.
-- Raises: QW005 for an unknown setting in p_unset, and for one that is also given a value.
-- Called by: create_queue.

begin;

create function _qwf.new_settings(p_given jsonb, p_unset text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := array(select k from jsonb_object_keys(p_given) k order by k);
  v_set constant text[] := array(select k from jsonb_object_keys(jsonb_strip_nulls(p_given)) k);
  v_bad text := (
    select u from unnest(p_unset) u
    where (u = any (v_known)) is not true or u = any (v_set) limit 1);
begin
  if v_bad is not null or array_position(p_unset, null) > 0 then
    raise exception using errcode = 'QW005', message = 'setting cannot be unset',
      detail = format('unset: %L', left(v_bad, 200)),
      hint = case when v_bad = any (v_set) then 'give it a value or unset it, not both'
        else coalesce(_qwf.did_you_mean(v_bad, v_known) || ' ', '')
          || 'a queue has ' || array_to_string(v_known, ', ') end;
  end if;
  return v_set || p_unset;
end $$;

commit;
