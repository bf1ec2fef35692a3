-- 6 tests
select is(_qwf.did_you_mean(c.name, '{detect,annotate,fetch}'), c.hint, c.name)
from (values ('detct', 'did you mean detect?'), ('anotate', 'did you mean annotate?'),
  ('fecth', 'did you mean fetch?'), ('hcetf', 'did you mean fetch?'),
  ('xyz', null), ('', null)) c (name, hint);
