-- Deploy qwf:schema/cancel_requests
-- Requests to stop running jobs.

begin;

create table qwf.cancel_requests (
  job_id bigint primary key,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  reason text,
  requested_at timestamptz not null default clock_timestamp()
);
comment on table qwf.cancel_requests is
  'A request to stop a running job. It has its own table so that an open transaction never locks '
  'the running job.';
comment on column qwf.cancel_requests.job_id is 'The job; the row is deleted when the job ends.';
comment on column qwf.cancel_requests.login is
  'Login of the session that asked: nobody can set it.';
comment on column qwf.cancel_requests.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.cancel_requests.reason is 'Why.';
comment on column qwf.cancel_requests.requested_at is 'When.';

commit;
