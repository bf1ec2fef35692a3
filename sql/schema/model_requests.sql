-- Deploy qwf:schema/model_requests
-- Requests of people to load or unload models on a box.

begin;

create table qwf.model_requests (
  id bigint generated always as identity primary key,
  host text not null,
  queue text not null,
  model text,
  action text not null check (action in ('load', 'unload')),
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  requested_at timestamptz not null,
  taken_by text,
  progress text,
  answered_at timestamptz,
  error text,
  check (action = 'unload' or model is not null)
);
create index model_requests_open on qwf.model_requests (host, queue) where taken_by is null;
comment on table qwf.model_requests is
  'A request to load or unload a model on a box; kept for a day.';
comment on column qwf.model_requests.id is 'Id that request_model() returned.';
comment on column qwf.model_requests.host is 'The box.';
comment on column qwf.model_requests.queue is 'The queue whose worker should do it.';
comment on column qwf.model_requests.model is 'The model; null: unload all.';
comment on column qwf.model_requests.action is 'load or unload.';
comment on column qwf.model_requests.login is
  'Login of the session that asked: nobody can set it.';
comment on column qwf.model_requests.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.model_requests.requested_at is
  'When it was asked for; no worker takes it after five minutes.';
comment on column qwf.model_requests.taken_by is 'Worker that took it; null: none yet.';
comment on column qwf.model_requests.progress is
  'How far it is, in words, such as how much of a model is pulled; null: nothing was reported.';
comment on column qwf.model_requests.answered_at is 'When it was done or had failed.';
comment on column qwf.model_requests.error is 'Why it failed; null: it has not.';

commit;
