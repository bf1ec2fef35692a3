-- Deploy qwf:schema/failure_marks
-- Marks of groups of failures, which people set: seen, hidden for a while, a note.

begin;

create table qwf.failure_marks (
  task text not null,
  signature text not null,
  seen_at timestamptz,
  snoozed_until timestamptz,
  release_after timestamptz,
  note text,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  changed_at timestamptz not null,
  primary key (task, signature)
);
comment on table qwf.failure_marks is
  'Marks of groups of failures: mark_failures() writes them, failure_groups() reads them. A mark '
  'that nobody has changed for 90 days is deleted.';
comment on column qwf.failure_marks.task is 'Task of the group.';
comment on column qwf.failure_marks.signature is
  'The signature of its errors; empty: its jobs have no error text.';
comment on column qwf.failure_marks.seen_at is 'When somebody has seen it; null: nobody says so.';
comment on column qwf.failure_marks.snoozed_until is 'Until when it is hidden; null: it is not.';
comment on column qwf.failure_marks.release_after is
  'It is hidden only until a version of a workflow or pipeline is registered after this; null: no.';
comment on column qwf.failure_marks.note is 'A note for the others; null: none.';
comment on column qwf.failure_marks.login is
  'Login of the session that marked it last: nobody can set it.';
comment on column qwf.failure_marks.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.failure_marks.changed_at is 'When it was last marked.';

commit;
