-- 11 tests
select throws_ok(
  format('select qwf.create_schedule(''x'', ''t'', cron => ''@daily'', timezone => %L)', z.name),
  'QW005', 'invalid schedule', z.why)
from (values
  ('Europe/Atlantis', 'no such place'), ('right/Europe/Berlin', 'its clocks show leap seconds'),
  ('CEST', 'an abbreviation: it has no winter time'),
  ('FOO+3', 'a rule written out'), ('Europe/Berlin3', 'a typing error that looks like one'),
  ('', 'empty'), (null, 'null')) z (name, why);
select lives_ok(
  format('select qwf.create_schedule(''x'', ''t'', cron => ''@daily'', timezone => %L)', z.name),
  z.name)
from unnest(array['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia', 'Etc/GMT+5']) z (name);
