-- Deploy qwf:functions/shared/_check_keys
-- Purpose: Refuses an object with an unknown key, which would be ignored.
-- Raises: QW005, naming the key and the known key that it probably means.
-- Called by: functions that read the keys of an object of their caller.

begin;

create function _qwf.check_keys(p_where text, p_object jsonb, p_known text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
begin
  if p_object - p_known <> '{}' then
    select min(k) into v_key from jsonb_object_keys(p_object - p_known) k;
    raise exception using errcode = 'QW005', message = 'unknown key',
      detail = p_where || left(v_key, 200),
      hint = coalesce(_qwf.did_you_mean(v_key, p_known),
        'the known keys are ' || array_to_string(p_known, ', '));
  end if;
end $$;

commit;
