-- 2 tests
-- Two billion jobs are not many, so every id has eight bytes.
select is_empty($$
  select a.attrelid::regclass, a.attname, format_type(a.atttypid, null)
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'p', 'c')
    and a.attnum > 0 and not a.attisdropped
    and a.attname ~ '^(id|.*_id|position)$'
    and a.atttypid in ('int4'::regtype, 'int2'::regtype)
$$, 'every id has eight bytes');
select is_empty($$
  select s.sequencename, s.data_type from pg_sequences s
  where s.schemaname = 'qwf' and s.data_type <> 'bigint'::regtype
$$, 'and so has what counts them');
