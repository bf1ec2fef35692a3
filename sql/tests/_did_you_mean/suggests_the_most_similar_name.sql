begin;
select plan(4);

select is(_qwf.did_you_mean(c.name, '{detect,annotate,fetch}'), c.hint, c.name)
from (values ('detct', 'did you mean detect?'), ('anotate', 'did you mean annotate?'),
  ('xyz', null), ('', null)) c (name, hint);

select * from finish();
rollback;
