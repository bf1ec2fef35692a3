-- Deploy qwf:views/jobs/kept_signals
-- Purpose: Signals that are kept for steps that ask for them later.

begin;

create view qwf.kept_signals as
select s.name, s.project, s.payload, s.login, s.acting_for, s.sent_at, s.keep_until
from qwf.signals s
where s.keep_until > qwf.now();
comment on view qwf.kept_signals is
  'Signals that are kept for steps that ask for them later (order by keep_until desc): a step '
  'reads the newest of its name that fits.';
comment on column qwf.kept_signals.name is 'Name that a step waits for.';
comment on column qwf.kept_signals.project is 'Project of the steps that it answers.';
comment on column qwf.kept_signals.payload is 'The value that steps are answered with.';
comment on column qwf.kept_signals.login is 'Login of the session that sent it.';
comment on column qwf.kept_signals.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.kept_signals.sent_at is 'When it was sent.';
comment on column qwf.kept_signals.keep_until is 'Until when it answers steps that ask for it.';

commit;
