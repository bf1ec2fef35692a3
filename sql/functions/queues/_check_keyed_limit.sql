-- Deploy qwf:functions/queues/_check_keyed_limit
-- Purpose: Refuses a limit that counts by key and cannot be, or that would become one, and a limit
--   that has the name of a key.
-- Raises: QW005.
-- Called by: create_limit.

begin;

create function _qwf.check_keyed_limit(
  p_name text, p_max_running int, p_starts int, p_keyed boolean)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_prefix text := split_part(p_name, ':', 1);
begin
  if p_keyed <> (select l.keyed from qwf.limits l where l.name = p_name) then
    raise exception using errcode = 'QW005',
      message = 'whether a limit counts by key cannot change',
      detail = format('limit %L', p_name),
      hint = format('drop it first, when no job names it: select qwf.drop_limit(%L)', p_name);
  elsif p_keyed and strpos(p_name, ':') > 0 then
    raise exception using errcode = 'QW005',
      message = 'the name of a keyed limit has no colon', detail = format('limit %L', p_name),
      hint = format('name it %s, and its keys %s:KEY', v_prefix, v_prefix);
  elsif p_keyed and p_max_running > 100 then
    raise exception using errcode = 'QW005', message = 'a keyed limit allows 1 to 100 at once',
      detail = format('limit %L, max_running %s', p_name, p_max_running),
      hint = 'the number holds for each key; create_queue has max_running for all jobs of a queue';
  elsif p_keyed and p_starts > 100 then
    raise exception using errcode = 'QW005',
      message = 'a keyed limit allows 1 to 100 starts in a period',
      detail = format('limit %L, starts %s', p_name, p_starts),
      hint = 'give a shorter period with fewer starts';
  elsif not p_keyed and v_prefix <> p_name
    and exists (select from qwf.limits l where l.name = v_prefix and l.keyed)
    and not exists (select from qwf.limits l where l.name = p_name)
  then
    raise exception using errcode = 'QW005',
      message = format('limit "%s" counts by key', v_prefix),
      detail = format('%s is one of its keys', p_name),
      hint = 'a key needs no limit of its own; take a name without this prefix';
  end if;
end $$;

commit;
