-- Deploy qwf:schema/signals
-- Signals from outside, each a row of its own until keep_until: steps that ask later read the
-- newest that fits them. A producer and a step that do not see each other, as neither has
-- committed, are brought together by the tick: it looks at a signal until everything that was open
-- when it committed has ended.

begin;

create table qwf.signals (
  id bigint generated always as identity primary key,
  project text not null,
  name text not null,
  payload jsonb not null,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  sent_at timestamptz not null,
  keep_until timestamptz not null,
  look_at timestamptz,
  horizon xid8
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index signals_name on qwf.signals (project, name, id);
create index signals_look_at on qwf.signals (look_at) where look_at is not null;
create index signals_keep_until on qwf.signals (keep_until);
comment on table qwf.signals is 'Signals that were sent, until they are no longer kept.';
comment on column qwf.signals.project is 'Project of the steps that it answers.';
comment on column qwf.signals.name is 'Name that a step waits for.';
comment on column qwf.signals.id is 'Grows with each signal.';
comment on column qwf.signals.payload is 'The value that steps are answered with.';
comment on column qwf.signals.login is 'Login of the session that sent it: nobody can set it.';
comment on column qwf.signals.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.signals.sent_at is 'When it was sent.';
comment on column qwf.signals.keep_until is 'Until when it answers steps that ask for it.';
comment on column qwf.signals.look_at is
  'When the tick next looks for steps that wait for it; null: there can be none.';
comment on column qwf.signals.horizon is
  'Transactions before this one may not have seen it. Null: the tick has not looked yet.';

commit;
