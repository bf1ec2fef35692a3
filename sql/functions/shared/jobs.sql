-- Rows of jobs: tokens, positions, backoff, deletion; and locks with a name, held until the end
-- of a transaction. A lock is a row of _qwf.locks. Callers hold the locks of the jobs or of
-- their run.

-- Makes a token for one claim of one job. 64 bits follow from the job id and a secret that only
-- this claim has, so that the token of an earlier claim never matches a later one, and nobody
-- can tell a token from those of other jobs. A random number for each job would cost a system
-- call where Postgres is built without OpenSSL. Starts with the job id, so that a heartbeat
-- finds its rows by primary key and tokens need no index.
create function _qwf.new_token(p_job_id bigint, p_secret bytea) returns uuid
language sql immutable
as $$
  select encode(
    int8send(p_job_id) || substr(sha256(p_secret || int8send(p_job_id)), 1, 8), 'hex')::uuid
$$;

-- Returns the job that a token was made for. Inverse of _new_token; an invented token gives some
-- id, but the row of that job has another token.
create function _qwf.job_of_token(p_token uuid) returns bigint
language sql immutable strict
as $$
  select ('x' || left(replace(p_token::text, '-', ''), 16))::bit(64)::bigint
$$;

-- Returns the claim position of a job that becomes queued. First in, first out. Released work
-- (p_front) sorts before all other work, first in, first out among itself.
create function _qwf.next_position(p_front boolean default false) returns bigint
language sql volatile
as $$
  select nextval('qwf.job_position') - case when p_front then 4611686018427387904 else 0 end
$$;

-- Returns the wait before the n-th retry. Never raises; null for an invalid backoff, or one of
-- more than 4 KiB of text. Without jitter: the caller adds it.
create function _qwf.backoff_seconds(p_backoff jsonb, p_failures int) returns double precision
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last int;
  v_base double precision;
  v_factor double precision;
begin
  if _qwf.json_problem(p_backoff, 4096) is not null then
    return null;
  elsif jsonb_typeof(p_backoff) = 'array' then
    v_last := jsonb_array_length(p_backoff) - 1;
    if v_last < 0 or exists (
      select from jsonb_array_elements(p_backoff) e
      where jsonb_typeof(e.value) <> 'number' or case when jsonb_typeof(e.value) = 'number' then
        e.value::numeric not between 0 and 31536000 end
    ) then
      return null;
    end if;
    return round((p_backoff -> least(greatest(p_failures, 1) - 1, v_last))::numeric, 6);
  elsif jsonb_typeof(p_backoff) = 'object' then
    if p_backoff - '{base,factor,max}'::text[] <> '{}' or not p_backoff ? 'base' or exists (
      select from jsonb_each(p_backoff) e
      where jsonb_typeof(e.value) <> 'number' or case when jsonb_typeof(e.value) = 'number' then
        e.value::numeric not between 0 and 31536000 end
    ) then
      return null;
    end if;
    v_base := round((p_backoff -> 'base')::numeric, 6);
    v_factor := greatest(coalesce((p_backoff -> 'factor')::numeric, 2), 1);
    return least(
      v_base * v_factor ^ least(p_failures - 1, 24 / log(greatest(v_factor, 1.1)::numeric)),
      coalesce(round((p_backoff -> 'max')::numeric, 6), 31536000));
  end if;
  return null;
end $$;

-- Deletes jobs and everything kept about them. Replaces foreign keys, so that no insert pays for
-- one (docs/adr/0003).
-- Locks: expects the jobs, or their run, locked by the caller.
create function _qwf.delete_jobs(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  delete from qwf.job_attempts a where a.job_id = any (p_jobs);
  delete from qwf.input_answers a where a.job_id = any (p_jobs);
  delete from qwf.run_files f where f.job_id = any (p_jobs);
  delete from qwf.live_logs l where l.job_id = any (p_jobs);
  delete from qwf.cancel_requests c where c.job_id = any (p_jobs);
  delete from qwf.waits w where w.job_id = any (p_jobs);
  delete from qwf.checkpoints c where c.job_id = any (p_jobs);
  delete from qwf.job_progress p where p.job_id = any (p_jobs);
  delete from qwf.attempt_series s where s.job_id = any (p_jobs);
  delete from qwf.jobs j where j.id = any (p_jobs);
end $$;

-- Takes one of the locks of the engine until the end of the transaction.
-- Locks: the row of the lock, for which it waits.
create function _qwf.take_lock(p_name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from _qwf.locks l where l.name = p_name for no key update;
end $$;

-- Takes one of the locks of the engine until the end of the transaction, unless somebody else
-- has it.
-- Locks: the row of the lock, tried only.
create function _qwf.try_lock(p_name text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from _qwf.locks l where l.name = p_name for no key update skip locked;
  return found;
end $$;

-- True if the transaction that set a hint in a sequence has committed, or is this one. A
-- rollback does not take such a hint back. Never raises: a number that this server has not given
-- out yet, as after a restore, counts as not committed.
create function _qwf.has_committed(p_xid bigint) returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_xid::text = pg_current_xact_id_if_assigned()::text then true
    when p_xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint then false
    else coalesce(pg_xact_status(p_xid::text::xid8) = 'committed', false)
  end
$$;
