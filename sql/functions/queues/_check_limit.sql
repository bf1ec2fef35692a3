-- Deploy qwf:functions/queues/_check_limit
-- Purpose: Refuses an unknown limit, under which jobs would wait forever; suggests a known one.
-- Raises: QW001; QW005 for a limit that counts by key, without a key.
-- Called by: _check_change, _check_job, _check_limits, _check_run, busiest_keys, retry_job,
--   _line_up_again.

begin;

create function _qwf.check_limit(p_where text, p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from qwf.limits l where l.name = rtrim(p_name, ':') and l.keyed) then
    raise exception using errcode = 'QW005',
      message = format('limit "%s" counts by key', rtrim(p_name, ':')),
      detail = format('%slimit_by %L', p_where, p_name),
      hint = format('write limit_by => ''%s:KEY''', rtrim(p_name, ':'));
  end if;
  if p_name is not null and not _qwf.names_key(p_name) and (starts_with(p_name, 'queue:')
      or not exists (select from qwf.limits l where l.name = p_name)) then
    raise exception using errcode = 'QW001', message = 'no such limit',
      detail = format('%slimit_by %L; limits: %s', p_where, left(p_name, 200), coalesce((
        select string_agg(l.name, ', ' order by l.name) from (
          select l.name from qwf.limits l where not starts_with(l.name, 'queue:')
          order by l.name limit 20) l), 'none')),
      hint = coalesce(_qwf.did_you_mean(p_name, array(
          select l.name from qwf.limits l where not starts_with(l.name, 'queue:'))) || ' If not, ',
        'correct the name, or ')
        || format('ask an administrator to create the limit: select qwf.create_limit(%s)', case
          when starts_with(p_name, 'queue:') or strpos(p_name, ':') not between 2 and 200
              or exists (select from qwf.limits l where l.name = split_part(p_name, ':', 1))
            then format('%L, 2', left(p_name, 200))
          else format('%L, 2, keyed => true', split_part(p_name, ':', 1)) end);
  end if;
end $$;

commit;
