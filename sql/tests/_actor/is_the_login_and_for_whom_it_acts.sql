begin;
select plan(4);

select is(_qwf.actor(), session_user::text, 'nobody is named: the login');
select set_config('qwf.actor', 'ada', true);
select is(_qwf.actor(), session_user || ' for ada', 'the login comes first');
select set_config('qwf.actor', '  Jörg O''Brien (night shift) <jörg@example.org> ', true);
select is(_qwf.actor(), session_user || ' for Jörg O''Brien (night shift) <jörg@example.org>',
  'a name is any readable text');
select set_config('qwf.actor', '', true);
select is(_qwf.actor(), session_user::text, 'an empty name is none');

select * from finish();
rollback;
