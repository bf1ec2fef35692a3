-- Deploy qwf:views/queues/setting_overview
-- Purpose: The settings, one in a row: value, default and meaning.
-- Guarantees: Reads names, defaults and meanings from the catalogue, so that none is written twice.

begin;

create view qwf.setting_overview as
select
  a.attname::text collate "default" as name,
  to_jsonb(s) -> a.attname as value,
  case when a.atttypid = 'interval'::regtype then to_jsonb(d.value)
    when a.atttypid = 'text[]'::regtype then to_jsonb(d.value::text[])
    else d.value::jsonb end as default_value,
  case
    when a.atttypid = 'interval'::regtype then 'time'
    when a.attname ~ '_bytes$' then 'bytes'
    when a.atttypid = 'text[]'::regtype then 'texts'
    when a.attname ~ '_percent$' then '%'
    when a.attname ~ '_backoff$' then 'seconds'
    else 'number'
  end as unit,
  pg_catalog.col_description(a.attrelid, a.attnum) as about
from pg_catalog.pg_attribute a
join pg_catalog.pg_attrdef e on e.adrelid = a.attrelid and e.adnum = a.attnum
cross join lateral (  -- of '00:00:30'::interval, what is in the quotes
  select coalesce(substring(x.text from '^''(.*)''::[a-z]+(?:[[][]])?$'), x.text) as value
  from pg_catalog.pg_get_expr(e.adbin, e.adrelid) x (text)
) d
cross join qwf.settings s
where a.attrelid = 'qwf.settings'::regclass and a.attname <> 'singleton'
order by a.attnum;
comment on view qwf.setting_overview is
  'The settings with their defaults; change one with select qwf.change_settings(...).';
comment on column qwf.setting_overview.name is 'Name of the setting.';
comment on column qwf.setting_overview.value is
  'The value that applies now, as change_settings takes it.';
comment on column qwf.setting_overview.default_value is
  'The value that applies if nobody changes it.';
comment on column qwf.setting_overview.unit is
  'time (such as 90 s or 2 h), number, bytes, %, seconds or texts (a list of them).';
comment on column qwf.setting_overview.about is 'Its meaning.';

commit;
