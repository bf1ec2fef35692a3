-- 2 tests
create function pg_temp.said(p_name text) returns text
language plpgsql
as $$
begin
  perform set_config('qwf.acting_for', p_name, true);
  return _qwf.acting_for();
end $$;
select is_empty($$
  select v.name, pg_temp.said(v.name)
  from unnest(array['   ', repeat('x', 256), repeat('ä', 128), repeat('x', 5000000), E'ada\nroot',
    E'a\tb', E'a\x1b[2J', E'a\x7f', U&'a\0085b', U&'ada\202Ebob', U&'ada\2066bob', U&'a\200Bb',
    U&'a\00ADb', U&'\FEFFada', U&'a\+0E0041b', U&'a\2028b', U&'a\3164b']) v (name)
  where pg_temp.said(v.name) is not null
$$, 'too long, or with characters that nobody sees');
select is_empty($$
  select v.name, pg_temp.said(v.name)
  from unnest(array['ada', repeat('x', 255), 'ada for bob', '%s \1 $1', U&'\5C0F\6797',
    U&'\+01F600']) v (name)
  where pg_temp.said(v.name) is distinct from v.name
$$, 'every other name is kept as it is');
