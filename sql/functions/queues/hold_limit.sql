-- Deploy qwf:functions/queues/hold_limit
-- Purpose: Lets no job of a limit, or of one of its keys, start before a time.
-- Guarantees: The later of two holds wins, and a call that changes nothing writes nothing. Running
--   jobs go on. Holds from the moment at which the caller's transaction commits, also for claims
--   that begin then, and beyond a change of the limit; drop_limit ends it. A tick deletes it when
--   its time has come. Waits for no claim, and no claim waits for it.
-- Locks: the limit FOR KEY SHARE, as enqueue does; then the hold.
-- Notifies: when it ends a hold, sleepers of the queues where jobs wait for the limit.

begin;

create function qwf.hold_limit(
  name text, until timestamptz, key text default null, job_id bigint default null)
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_name text := hold_limit.name || coalesce(':' || hold_limit.key, '');
  v_keyed boolean;
  v_old timestamptz;
  v_until timestamptz := hold_limit.until;
begin
  perform _qwf.check_text('key', hold_limit.key);
  select l.keyed into v_keyed from qwf.limits l where l.name = hold_limit.name for key share;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such limit',
      detail = format('limit %L', left(hold_limit.name, 200)),
      hint = coalesce((
          select format('give its key apart: select qwf.hold_limit(%L, until, key => %L)', l.name,
            left(substr(hold_limit.name, length(l.name) + 2), 200))
          from qwf.limits l
          where l.keyed and l.name = split_part(left(hold_limit.name, 500), ':', 1)),
        _qwf.did_you_mean(left(hold_limit.name, 200), array(select l.name from qwf.limits l)),
        'list them: select * from qwf.limits');
  elsif hold_limit.key is not null
    and (not v_keyed or hold_limit.key = '' or octet_length(v_name) > 500)
  then
    raise exception using errcode = 'QW005', message = 'the limit has no such key',
      detail = format('limit %L, key %L', hold_limit.name, left(hold_limit.key, 200)),
      hint = case when v_keyed then 'a key has a letter, and limit and key at most 500 bytes'
        else 'the limit does not count by key: leave out key' end;
  elsif v_until > v_now + interval '366 days' then
    raise exception using errcode = 'QW005', message = 'a limit cannot be held that long',
      detail = format('until %s', v_until), hint = 'hold it for 366 days at most';
  end if;
  select h.until into v_old from qwf.limit_holds h where h.name = v_name and h.until > v_now;
  if coalesce(v_until <= v_now, true) then
    delete from qwf.limit_holds h where h.name = v_name;
    v_until := null;
    if v_keyed and v_old is not null then
      perform _qwf.wake(q.name, 16) from qwf.queues q
      where exists (select from _qwf.next_band(q.name, null));
    elsif v_old is not null then
      perform _qwf.wake_for_limit(v_name, 16);
    end if;
  elsif v_old >= v_until then
    return v_old;
  else
    insert into qwf.limit_holds as h (name, until, login, job_id)
    values (v_name, v_until, session_user, hold_limit.job_id)
    on conflict (name) do update set
      until = excluded.until, login = excluded.login, job_id = excluded.job_id
    where h.until < excluded.until;
    if not found then  -- somebody else has held it for longer meanwhile
      return (select h.until from qwf.limit_holds h where h.name = v_name);
    end if;
  end if;
  perform _qwf.record_change('limit_changed', hold_limit.name,
    jsonb_build_object('held_until', v_old), jsonb_build_object('held_until', v_until),
    jsonb_strip_nulls(jsonb_build_object(
      'job', hold_limit.job_id, 'one_key', nullif(hold_limit.key is not null, false))));
  return v_until;
end $$;
comment on function qwf.hold_limit is
  'Lets no job that names the limit start before until, at most 366 days ahead; running ones go '
  'on. key: only jobs of this key of a limit that counts by key; null: of all keys. The later of '
  'two holds wins, and a null or a past time ends the hold; returns until when it holds now. '
  'job_id: the job that asks for it, for people. Takes effect when this transaction commits. QW001 '
  'no such limit, QW005 no such key or a time too far ahead.';
call _qwf.allow('qwf.hold_limit', 'qwf_producer', 'qwf_worker');

commit;
