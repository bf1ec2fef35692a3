-- 4 tests
select ok(qwf.secret_keys() @> '{password,token,api_key}', 'by default');
select qwf.change_settings('{"secret_keys": ["iban"]}');
select qwf_test.as_role('qwf_producer', $$ do $do$ begin
  if qwf.secret_keys() <> '{iban}' then raise exception $e$not the setting$e$; end if; end $do$ $$);
select is(qwf.secret_keys(), '{iban}', 'a list of one''s own');
select qwf.change_settings('{"secret_keys": []}');
select is(qwf.secret_keys(), '{}', 'none');
select qwf.change_settings('{"secret_keys": null}');
select ok(qwf.secret_keys() @> '{password}', 'the default again');
