-- Deploy qwf:functions/health/_server_failure
-- Purpose: Returns the name of a model server, its trouble, and the first line of its error.
-- Called by: _doctor_models.

begin;

create function _qwf.server_failure(p_server qwf.servers) returns text
language sql immutable parallel safe
as $$
  select format('model server %s on %s %s%s', p_server.server, p_server.host,
    case p_server.state when 'gone' then 'does not answer' when 'failed' then 'has failed'
      else 'is broken' end,
    ': ' || nullif(_qwf.one_line(split_part(p_server.error, E'\n', 1)), ''))
$$;

commit;
