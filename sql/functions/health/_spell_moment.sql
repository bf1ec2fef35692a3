-- Deploy qwf:functions/health/_spell_moment
-- Purpose: Returns a time in the time zone of the session, without the date if it is today.
-- Called by: checks of doctor.

begin;

create function _qwf.spell_moment(p_at timestamptz) returns text
language sql volatile
as $$
  select to_char(p_at,
    case when p_at::date = qwf.now()::date then 'HH24:MI:SS' else 'YYYY-MM-DD HH24:MI' end)
$$;

commit;
