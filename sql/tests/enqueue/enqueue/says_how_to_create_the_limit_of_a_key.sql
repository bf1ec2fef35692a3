-- 4 tests
create function pg_temp.hint(p_limit text) returns text language plpgsql as $$
declare
  v_hint text;
begin
  perform qwf.enqueue('t', limit_by => p_limit);
  return 'taken';
exception
  when sqlstate 'QW001' then
    get stacked diagnostics v_hint = pg_exception_hint;
    return substring(v_hint from 'select .*$');
end $$;

select qwf.create_limit('plain', 2);
select is(pg_temp.hint('tenant:acme'),
  $$select qwf.create_limit('tenant', 2, keyed => true)$$, 'a key');
select is(pg_temp.hint('tenant'), $$select qwf.create_limit('tenant', 2)$$, 'no key');
select is(pg_temp.hint('plain:acme'), $$select qwf.create_limit('plain:acme', 2)$$,
  'the limit is there and does not count by key, which is fixed');
select is(pg_temp.hint(':acme'), $$select qwf.create_limit(':acme', 2)$$, 'a key of nothing');
