-- 13 tests
select is(_qwf.is_true(c.value), c.truth, coalesce(c.value::text, 'SQL null'))
from (values
  (null::jsonb, false), ('null', false), ('false', false), ('0', false), ('0.0', false),
  ('""', false), ('[]', false), ('{}', false),
  ('true', true), ('1', true), ('"false"', true), ('[null]', true), ('{"a": null}', true)
) c (value, truth);
