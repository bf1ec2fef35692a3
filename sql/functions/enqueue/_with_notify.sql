-- Deploy qwf:functions/enqueue/_with_notify
-- Purpose: Returns labels that name a receiver, whom events of the job or run are told.
-- Guarantees: Without a receiver they stay as they are. Labels that are no object stay as they
--   are: the check of labels refuses them. A notice says when no live agent has the receiver.
-- Raises: QW005 for what cannot be the name of a receiver.
-- Called by: enqueue, enqueue_run, _change_notify, _read_jobs.

begin;

create function _qwf.with_notify(p_labels jsonb, p_receiver text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not _qwf.is_receiver(p_receiver) then
    raise exception using errcode = 'QW005', message = 'invalid receiver',
      detail = format('notify %L', left(p_receiver, 200)),
      hint = 'give the name of a receiver, letters, digits, - and _; an administrator writes '
        'addresses into qwf.toml of an agent: [receiver.NAME]';
  end if;
  perform _qwf.notice_no_receiver(p_receiver);
  return case
    when p_receiver is null or jsonb_typeof(coalesce(p_labels, '{}')) <> 'object' then p_labels
    else coalesce(p_labels, '{}') || jsonb_build_object('qwf.notify', p_receiver) end;
end $$;

commit;
