-- Questions answered, or expired. Locks: the run, its waiting events, the job, then jobs that
-- become ready; a job without a run only itself.

-- Answers the question of a job by its id, which is the only way for standalone jobs. The answer
-- and all that follows from it are in the transaction of the caller. Of two answers at once, the
-- second waits and then gets QW002. With `asked`, only the question of that time is answered:
-- what was meant for it is never taken for an answer to a later question of the same job.
-- Locks: the run, its waiting events, the job, jobs that become ready; of a standalone job only
--   the job.
-- Notifies: sleepers of the queues that got work.
create function qwf.answer_job(
  job_id bigint, value jsonb, acting_for text default null, asked timestamptz default null
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_before constant text := _qwf.act_for(answer_job.acting_for);
  v_value constant jsonb := coalesce(answer_job.value, 'null');
  v_job qwf.jobs;
  v_answer bigint;
begin
  select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id;
  if not found then
    perform _qwf.raise_no_such_job(answer_job.job_id);
  elsif v_job.run_id is not null then
    perform _qwf.lock_runs(array[v_job.run_id]);
    select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id;
    if not found then  -- a retry of its map has deleted it
      perform _qwf.raise_no_such_job(answer_job.job_id);
    end if;
  elsif v_job.status = 'awaiting_input' then
    select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id for no key update;
  end if;
  if v_job.status = 'awaiting_input'
    and date_trunc('milliseconds', coalesce(v_job.queued_at, v_job.created_at))
      <> date_trunc('milliseconds', answer_job.asked)
  then
    raise exception using errcode = 'QW002', message = 'the job asks again',
      detail = format('job %s asked at %s, and again at %s',
        v_job.id, answer_job.asked, coalesce(v_job.queued_at, v_job.created_at)),
      hint = format('read the new question: select * from qwf.why_not(%s)', v_job.id);
  end if;
  if v_job.status is distinct from 'awaiting_input'
    or _qwf.is_obsolete(v_job.run_id, v_job.run_if, v_job.parent_id)
  then
    raise exception using errcode = 'QW002',
      message = case
        when v_job.status = 'blocked' then 'not asked yet'
        when v_job.status = 'completed' and v_job.queue is null then 'already answered'
        when v_job.status = 'awaiting_input' then 'the run or map is over'
        else 'not waiting for an answer'
      end,
      detail = format('%s is %s', case when v_job.run_id is null then 'job ' || v_job.id
        else format('node %s of run %s', v_job.node_id, v_job.run_id) end, v_job.status),
      hint = case when v_job.run_id is null
        then format('see what became of it: select qwf.result(%s)', v_job.id)
        else format('see what the run waits for: select qwf.run_status(%s)', v_job.run_id) end;
  end if;
  perform _qwf.check_json('value', v_value, (select s.max_value_bytes from qwf.settings s));
  perform _qwf.raise_problems('QW005', 'the answer does not fit the question',
    array(select p from _qwf.answer_problems(v_job.input_spec, v_value) p));
  v_answer := _qwf.apply_answer(v_job, v_value, false);
  perform set_config('qwf.acting_for', v_before, true);
  return v_answer;
end $$;
comment on function qwf.answer_job is
  'Answers the question of a job: of an input, or what to do about a failure (retry, skip, abort); '
  'returns the id of the answer. asked, column since of pending_inputs, names the question: if the '
  'job asks again since then, the answer is refused. QW001 no such job, QW002 the job does not '
  'wait for an answer or asks again, QW005 the value does not fit.';
call _qwf.allow('qwf.answer_job', 'qwf_producer');

-- Applies a valid answer: an input completes with it, or with the option that it names; a job
-- that may have run completes with the output of the answer has_run; a failed job is retried
-- with fresh budgets, skipped, or failed for good. A retry while a newer job of its key has not
-- ended cancels it instead, and a notice says so.
-- Locks: expects the run of the job locked by the caller, or the job if it has no run.
-- Notifies: sleepers of the queues that got work.
create function _qwf.apply_answer(p_job qwf.jobs, p_value jsonb, p_by_default boolean)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_kind text := case
    when p_job.queue is null then 'answered'
    when p_value in ('"retry"', '"has_not"') then 'retried'
    when p_value = '"has_run"' or p_value ? 'has_run' then 'answered'
    when p_value = '"skip"' then 'passed'
    else 'aborted' end;
  v_value jsonb := _qwf.chosen(p_job.input_spec, p_value);
  v_answer bigint;
begin
  if v_kind = 'retried' and not _qwf.key_is_free(p_job) then
    v_kind := 'superseded';
  end if;
  insert into qwf.input_answers (job_id, run_id, node_id, value, by_default, answered_at)
  values (p_job.id, p_job.run_id, p_job.node_id, v_value, p_by_default, v_now)
  returning id into v_answer;
  update qwf.jobs j set
    status = case v_kind when 'answered' then 'completed' when 'retried' then 'queued'
      when 'passed' then 'skipped' when 'superseded' then 'cancelled'
      else 'failed' end::qwf.job_status,
    output = case when v_kind = 'answered'
      then case when j.queue is null
        then jsonb_build_object(coalesce(j.input_spec ->> 'target', 'value'), v_value)
        else coalesce(p_value -> 'has_run', '{}') end end,
    begun = case when v_kind = 'retried' and j.begun then false else j.begun end,
    finished_at = case when v_kind <> 'retried' then v_now end, expires_at = null,
    retries = j.retries + (v_kind = 'retried')::int,
    failures = case when v_kind = 'retried' then 0 else j.failures end,
    losses = case when v_kind = 'retried' then 0 else j.losses end,
    queued_at = case when v_kind = 'retried' then v_now else j.queued_at end,
    position = case when v_kind = 'retried' then _qwf.next_position() else j.position end,
    last_error = case when v_kind = 'superseded'
      then 'superseded by a newer job of its key' || coalesce(': ' || j.last_error, '')
      else j.last_error end,
    input_spec = case when v_kind <> 'retried' then j.input_spec end
  where j.id = p_job.id;
  delete from qwf.waits w where w.job_id = p_job.id;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (v_now, p_job.run_id, p_job.id, 'question_answered',
    jsonb_build_object('answer_id', v_answer, 'job', v_kind));
  if v_kind = 'retried' then
    perform _qwf.wake(p_job.queue, 1);
  elsif v_kind = 'aborted' then
    perform _qwf.announce_trouble(array[p_job.id]);
  elsif v_kind = 'superseded' then
    raise notice using message = format('job %s does not run again', p_job.id),
      hint = 'a newer job of its key has not ended: the older one is cancelled';
  end if;
  if p_job.run_id is not null then
    perform _qwf.apply_events(
      _qwf.take_events(array[p_job.run_id])
      || array[(p_job.run_id, p_job.id, v_kind)::_qwf.event]);
  end if;
  return v_answer;
end $$;

-- True when a job that asks a person can wait again under its key: no newer job of it waits or
-- has started. Waits for producers and claims of that key whose transactions are open. If true,
-- the place of the job that waits is taken until the caller's transaction ends.
-- Locks: the key.
create function _qwf.key_is_free(p_job qwf.jobs) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_job.key_state <> 's' then
    return true;  -- no key, or one that it has kept all the time
  end if;
  update qwf.jobs j set key_state = 'w', status = 'queued' where j.id = p_job.id;
  if _qwf.started_with_key(p_job.project, p_job.task, p_job.key, true) is not null then
    raise unique_violation;
  end if;
  return true;
exception
  when unique_violation then
    return false;
end $$;

-- Answers a question that a run waits for, and lets the run continue: answer_job, by the name of
-- the node. The answer, the end of the node and the fan-out are in the transaction of the
-- caller. Of two answers at once, the second waits and then gets QW002. While the transaction is
-- open, others leave events of this run in the outbox.
-- Locks: as answer_job.
-- Notifies: sleepers of the queues that got work.
create function qwf.submit_input(
  run_id bigint, node_id text, value jsonb, acting_for text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_job bigint;
begin
  select j.id into v_job
  from qwf.jobs j
  where j.run_id = submit_input.run_id and j.node_id = submit_input.node_id
    and (j.queue is null or j.on_failure = 'ask');
  if not found then
    raise exception using errcode = 'QW001', message = 'no such input',
      detail = format('run %s has no input %L', submit_input.run_id,
        left(submit_input.node_id, 200)),
      hint = coalesce(
        _qwf.did_you_mean(submit_input.node_id, array(
          select n.node_id
          from qwf.runs r join qwf.graph_nodes n on n.graph_id = r.graph_id
          where r.id = submit_input.run_id and (n.queue is null or n.on_failure = 'ask'))),
        format('see what the run waits for: select qwf.run_status(%s)', submit_input.run_id));
  end if;
  return qwf.answer_job(v_job, submit_input.value, submit_input.acting_for);
end $$;
comment on function qwf.submit_input is
  'Answers an input node, or decides about a failed node (retry, skip, abort), and resumes the '
  'run; returns the id of the answer. QW001 no such input, QW002 not asked yet or already '
  'answered, QW005 the value does not fit.';
call _qwf.allow('qwf.submit_input', 'qwf_producer');

-- Ends questions that nobody answered in time (question), or waits for a signal (signal). The
-- default of a question becomes its answer; without a default the node fails. Leaves a question
-- whose run is locked to the next call, and those of an overdue run: it fails. One that cannot
-- be expired does not stop the others.
-- Locks: runs that nobody has locked; then as answer_job.
-- Notifies: sleepers of the queues that got work.
create function _qwf.expire_inputs(p_max_inputs int default 100, p_kind text default 'question')
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_due record;
  v_job qwf.jobs;
  v_count int := 0;
begin
  for v_due in
    select j.id
    from qwf.waits w join qwf.jobs j on j.id = w.job_id join qwf.runs r on r.id = j.run_id
    where w.kind = p_kind and w.at <= v_now
      and (r.deadline_at <= v_now and r.ending is null) is not true  -- it is about to fail
    order by w.at
    limit p_max_inputs
    for no key update of r skip locked
  loop
    begin
      select j.* into v_job from qwf.jobs j  -- again, under the lock: an answer may have come first
      where j.id = v_due.id and j.status = 'awaiting_input' and j.expires_at <= v_now;
      continue when not found;
      insert into _qwf.event_log (at, run_id, job_id, kind, detail)
      values (v_now, v_job.run_id, v_job.id, 'expired',
        jsonb_build_object('asked_at', v_job.queued_at, 'expires', v_job.input_spec -> 'expires'));
      if v_job.input_spec ? 'default' then
        perform _qwf.apply_answer(v_job, v_job.input_spec -> 'default', true);
      else
        update qwf.jobs j set
          status = 'failed', finished_at = v_now,
          last_error = format('%s within %s', case p_kind when 'question' then 'nobody answered'
            else 'no signal ' || (j.input_spec ->> 'signal') end, j.input_spec ->> 'expires')
        where j.id = v_job.id;
        delete from qwf.waits w where w.job_id = v_job.id;
        perform _qwf.announce_trouble(array[v_job.id]);
        perform _qwf.apply_events(
          _qwf.take_events(array[v_job.run_id])
          || array[(v_job.run_id, v_job.id, 'aborted')::_qwf.event]);
      end if;
      v_count := v_count + 1;
    exception
      when others then
        raise warning using message = 'input cannot be expired',
          detail = format('job %s: %s %s', v_due.id, sqlstate, sqlerrm);
    end;
  end loop;
  return v_count;
end $$;
