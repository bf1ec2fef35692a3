-- Deploy qwf:functions/_refuse_not_yet
-- requires: schema/qwf
-- Purpose: Refuses arguments whose meaning this version does not implement, rather than ignore
--   them.
-- Raises: QW003.
-- Called by: enqueue, enqueue_many.

begin;

create function qwf._refuse_not_yet(
  p_limit_by text, p_on_failure text, p_expires interval, p_where text default '')
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_argument text := case
    when p_limit_by is not null then 'limit_by'
    when p_on_failure is distinct from 'fail' then 'on_failure'
    when p_expires is not null then 'expires'
  end;
begin
  if v_argument is not null then
    raise exception using errcode = 'QW003', message = 'not yet supported',
      detail = p_where || v_argument,
      hint = 'leave the argument out; a later version will take it';
  end if;
end $$;
comment on function qwf._refuse_not_yet(text, text, interval, text) is
  'Raises QW003 for limit_by, on_failure other than fail, and expires, which are not there yet.';
revoke all on function qwf._refuse_not_yet(text, text, interval, text) from public;

commit;
