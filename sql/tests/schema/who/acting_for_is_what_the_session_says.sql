-- 4 tests
select is(_qwf.acting_for(), null, 'nothing is said');
select set_config('qwf.acting_for', 'ada', true);
select is(_qwf.acting_for(), 'ada', 'a name');
select set_config('qwf.acting_for', '  Jörg O''Brien (night shift) <jörg@example.org> ', true);
select is(_qwf.acting_for(), 'Jörg O''Brien (night shift) <jörg@example.org>',
  'a name is any readable text');
select set_config('qwf.acting_for', '', true);
select is(_qwf.acting_for(), null, 'an empty name is none');
