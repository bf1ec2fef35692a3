-- 4 tests
-- Viewers see rules, alerts, messages and receivers; producers and workers see none of them. No
-- role makes a message, or hides its own work from the rules as if an alert had made it.
create role qwf_test_stranger;
create temp table role (name) as values ('qwf_admin'), ('qwf_viewer'), ('qwf_producer'),
  ('qwf_worker'), ('qwf_test_stranger');
create temp table act (name, sql) as
select t, 'select * from qwf.' || t
from unnest('{alerts,open_alerts,alert_messages,alert_overview,alert_details,message_overview,
  receiver_overview,audit,events}'::text[]) t
union all values
  ('set_alert', $$select qwf.set_alert('r', '{"when": ["lost"], "do": {"receiver": "ops"}}')$$),
  ('test_alert', $$select qwf.test_alert('bad')$$),
  ('set_alert null', $$select qwf.set_alert('gone', null)$$),
  ('enqueue qwf.send', $$select qwf.enqueue('qwf.send', '{"receiver": "ops"}')$$),
  ('enqueue_many qwf.send', $$select qwf.enqueue_many('[{"task": "qwf.send"}]')$$),
  ('hide', $$select qwf.enqueue('t', labels => '{"qwf.alert": "bad"}')$$),
  ('hide many', $$select qwf.enqueue_many('[{"task": "t", "labels": {"qwf.alert": "x"}}]')$$),
  ('hide run', $$select qwf.enqueue_run('w', labels => '{"qwf.alert": "bad"}')$$),
  ('notify', $$select qwf.enqueue('t', notify => 'ops')$$);
create temp table did (who, what, error) as select name, name, name from role limit 0;
select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a"}]}');
select qwf.set_alert('bad', '{"when": ["overdue"], "do": {"receiver": "ops"}}');
select qwf.set_alert('gone', '{"when": ["overdue"], "do": {"receiver": "ops"}}');
do $$
declare
  v record;
begin
  for v in select r.name as role, a.name, a.sql from role r, act a loop
    begin
      perform qwf_test.as_role(v.role, v.sql);
      raise exception using errcode = 'P0002', message = 'done';
    exception
      when others then insert into did values (v.role, v.name, sqlstate);
    end;
  end loop;
end $$;
create temp table may (who, what) as
select r.name, a.name from role r, act a where
  case when a.name ~ '^(enqueue|hide)' then false
    when a.name = 'notify' then r.name in ('qwf_admin', 'qwf_producer')
    when a.sql ~ 'select qwf' then r.name = 'qwf_admin'
    else r.name in ('qwf_admin', 'qwf_viewer') end;
select set_eq($$ select who, what from did where error = 'P0002' $$, 'select * from may',
  'each what is its own');
select set_eq($$ select error from did where who = 'qwf_producer' and what ~ '^(enqueue|hide)' $$,
  array['QW005', 'QW007'], 'a producer is told why not');
select is_empty($$ select who, what, error from did d where error <> 'P0002'
    and error <> all (case when who in ('qwf_admin', 'qwf_producer') and what ~ '^(enqueue|hide)'
      then '{QW005,QW007}'::text[] else '{42501}' end) $$, 'the others have no right');
select is((select array_agg(a.name order by a.name) from qwf.alerts a), '{bad,gone}',
  'nothing has changed');
