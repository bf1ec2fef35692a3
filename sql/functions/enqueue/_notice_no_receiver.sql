-- Deploy qwf:functions/enqueue/_notice_no_receiver
-- Purpose: Tells who names a receiver that no live agent has it.
-- Guarantees: Only a notice: messages wait, for a day, until an agent has it.
-- Called by: set_alert, _with_notify.

begin;

create function _qwf.notice_no_receiver(p_receiver text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_receiver is not null and not _qwf.has_receiver(p_receiver) then
    raise notice using message = format('no live agent has receiver %s', p_receiver),
      hint = format('add [receiver.%s] to qwf.toml of an agent', p_receiver);
  end if;
end $$;

commit;
