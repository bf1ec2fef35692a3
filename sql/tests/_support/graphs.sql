-- Short ways to make work, and to do it. A test calls a job by its node id, or by its task where it
-- is standalone; the newest of that name is meant.
-- Nothing here returns a line that starts with ok, which would be read as a test.

create function qwf_test.workflow(p_name text, p_nodes jsonb, p_step jsonb default '{}')
returns void
language plpgsql
as $$
begin
  perform qwf.register_pipeline(jsonb_build_object('name', p_name, 'nodes', (
    select jsonb_agg(jsonb_build_object('node', n.value ->> 'id') || n.value order by n.place)
    from jsonb_array_elements(p_nodes) with ordinality n (value, place))));
  perform qwf.register_workflow(jsonb_build_object('name', p_name, 'steps', jsonb_build_array(
    jsonb_build_object('id', 's', 'kind', 'pipeline', 'pipeline', p_name) || p_step)));
end $$;
comment on function qwf_test.workflow(text, jsonb, jsonb) is
  'Registers a workflow of one step s over a pipeline of these nodes, each a task of its own name.';

create function qwf_test.question(
  p_widget text, p_keys jsonb default '{}', p_context jsonb default '{}')
returns bigint
language plpgsql
as $$
begin
  perform qwf.register_workflow(jsonb_build_object('name', 'question', 'steps', jsonb_build_array(
    jsonb_build_object('id', 'ask', 'kind', 'input', 'widget', p_widget, 'target', 'answer')
    || p_keys)));
  return qwf.enqueue_run('question', p_context);
end $$;
comment on function qwf_test.question(text, jsonb, jsonb) is
  'Enqueues a run that asks this one question, as ask.answer.';

create function qwf_test.run() returns bigint
language sql stable
as 'select max(r.id) from qwf.runs r';
comment on function qwf_test.run() is 'The newest run.';

create function qwf_test.job(p_name text) returns bigint
language sql stable
as 'select max(j.id) from qwf.jobs j where coalesce(j.node_id, j.task) = p_name';
comment on function qwf_test.job(text) is
  'The newest job of that node id, or standalone of that task.';

create function qwf_test.login() returns text
language sql stable
as 'select session_user';
comment on function qwf_test.login() is 'The login of the session, as it is recorded.';

create function qwf_test.token(p_name text) returns uuid
language sql stable
as 'select j.token from qwf.jobs j where j.id = qwf_test.job(p_name)';
comment on function qwf_test.token(text) is 'The token of the job, if it runs.';

create function qwf_test.state(p_name text) returns text
language sql stable
as 'select j.status::text from qwf.jobs j where j.id = qwf_test.job(p_name)';
comment on function qwf_test.state(text) is 'The state of the job.';

create function qwf_test.run_state() returns text
language sql stable
as 'select r.status::text from qwf.runs r where r.id = qwf_test.run()';
comment on function qwf_test.run_state() is 'The state of the newest run.';

create function qwf_test.wait(p_name text) returns numeric
language sql stable
as $$
  select extract(epoch from j.run_at - a.finished_at)
  from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id and a.attempt = j.attempt
  where j.id = qwf_test.job(p_name) and j.status = 'scheduled'
$$;
comment on function qwf_test.wait(text) is
  'Seconds from the end of the last attempt to the next, of a job that is scheduled.';

create function qwf_test.nodes() returns text
language sql stable
as $$
  select string_agg(format('%s %s', j.node_id, j.status), ', '
    order by j.node_idx, j.element)
  from qwf.jobs j
  where j.run_id = qwf_test.run()
$$;
comment on function qwf_test.nodes() is
  'Nodes of the newest run with their states, in topological order.';

create function qwf_test.claim(p_queue text default 'cpu', p_max_jobs int default 1) returns text
language sql volatile
as $$
  select 'claimed ' || coalesce(string_agg(coalesce(c.node_id, c.task), ', '), 'nothing')
  from qwf.claim(p_queue, 'w', p_max_jobs, startable => p_max_jobs) c
$$;
comment on function qwf_test.claim(text, int) is 'Claims as worker w and names what it got.';

create function qwf_test.report(
  name text, outcome text default 'completed', output jsonb default '{}', error text default null,
  detail jsonb default '{}')
returns void
language plpgsql
as $$
declare
  v_verdict text := qwf.finish(
    qwf_test.job(report.name), qwf_test.token(report.name), report.outcome, report.output,
    report.error, report.detail);
begin
  if v_verdict is distinct from 'ok' then
    raise exception 'report of % was answered %', report.name, v_verdict;
  end if;
end $$;
comment on function qwf_test.report(text, text, jsonb, text, jsonb) is
  'Ends the attempt of the running job; raises unless it is answered ok.';

create function qwf_test.attempt(
  name text, outcome text default 'completed', output jsonb default '{}', error text default null,
  detail jsonb default '{}')
returns void
language plpgsql
as $$
declare
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j where j.id = qwf_test.job(attempt.name);
  if v_job.status = 'scheduled' then
    perform qwf_test.set_now(v_job.run_at + interval '1 ms'), _qwf.promote_due();
  end if;
  perform qwf.claim(v_job.queue, 'w');
  perform qwf_test.report(
    attempt.name, attempt.outcome, attempt.output, attempt.error, attempt.detail);
end $$;
comment on function qwf_test.attempt(text, text, jsonb, text, jsonb) is
  'An attempt at the job, the next in its queue, from claim to report; travels over a backoff.';

create function qwf_test.work(p_queue text default 'cpu', p_max_jobs int default 1000) returns int
language sql volatile
as $$
  select count(*)::int
  from qwf.finish_many((
    select coalesce(jsonb_agg(jsonb_build_object(
      'job_id', c.job_id, 'token', c.token, 'outcome', 'completed', 'output', c.inputs)), '[]')
    from qwf.claim(p_queue, 'w', p_max_jobs, startable => p_max_jobs) c))
$$;
comment on function qwf_test.work(text, int) is
  'Completes what the queue holds, each job returning its inputs; says how many.';

create function qwf_test.lapse(p_name text) returns void
language plpgsql
as $$
begin
  perform qwf_test.set_now(j.lease_expires_at + interval '1 ms')
  from qwf.jobs j
  where j.id = qwf_test.job(p_name);
  perform _qwf.reclaim();
end $$;
comment on function qwf_test.lapse(text) is
  'Lets the lease of the running job lapse, and reclaims it.';

create function qwf_test.woken() returns text
language sql stable
as $$
  select string_agg(distinct s.worker, ', ' order by s.worker)
  from qwf.sleepers s
  join _qwf.hash_locks h on h.number = hashtext(s.worker) & 4095 | 16384
  where h.xmax::text::bigint >= pg_current_xact_id()::xid::text::bigint  -- a savepoint's, too
$$;
comment on function qwf_test.woken() is
  'Sleepers this transaction sends a NOTIFY at commit: their locks tell.';

create function qwf_test.explains(p_sql text, p_detail text, p_description text) returns text
language plpgsql
as $$
declare
  v_message text := '';
  v_detail text;
  v_hint text;
  v_fine boolean;
begin
  begin
    execute p_sql;
  exception
    when others then
      get stacked diagnostics
        v_message = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  end;
  v_fine := v_message ~ '^[^A-Z].*[^.]$' and v_detail like p_detail and v_hint <> '';
  return ok(v_fine, p_description) || case when v_fine then '' else E'\n'
    || diag(format('message %L, detail %L, hint %L', v_message, v_detail, v_hint)) end;
end $$;
comment on function qwf_test.explains(text, text, text) is
  'Test: the statement fails with such a DETAIL (like), with a HINT and a message in house style.';

create function qwf_test.hints(p_sql text, p_hint text, p_description text) returns text
language plpgsql
as $$
declare
  v_hint text;
begin
  begin
    execute p_sql;
  exception
    when others then
      get stacked diagnostics v_hint = pg_exception_hint;
  end;
  return alike(v_hint, p_hint, p_description);
end $$;
comment on function qwf_test.hints(text, text, text) is
  'Test: the statement fails with such a HINT (like).';

create function qwf_test.as_role(p_role name, p_sql text) returns void
language plpgsql
as $$
begin
  perform set_config('role', p_role, true);
  execute p_sql;
  perform set_config('role', 'none', true);
end $$;
comment on function qwf_test.as_role(name, text) is
  'Executes a statement with the rights of a role.';

create function qwf_test.tg_jammed() returns trigger
language plpgsql
as $$
begin
  raise exception '% is jammed', new.node_id;
end $$;
comment on function qwf_test.tg_jammed() is 'Fails whatever is done to a row.';

create function qwf_test.jam(p_node text, p_for_good boolean default false) returns void
language plpgsql
as $$
begin
  execute format(
    'create trigger jammed before update on qwf.jobs for each row
     when (new.node_id = %L and old.status = ''blocked''
       and (%L or new.status in (''queued'', ''skipped'', ''awaiting_input'')))
     execute function qwf_test.tg_jammed()', p_node, p_for_good);
end $$;
comment on function qwf_test.jam(text, boolean) is
  'Makes opening that node fail, as a defect would, until unjam(); for good: cancelling it too.';

create function qwf_test.unjam() returns void
language plpgsql
as $$
begin
  drop trigger jammed on qwf.jobs;
end $$;
comment on function qwf_test.unjam() is 'Takes back jam().';
