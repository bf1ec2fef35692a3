-- Deploy qwf:functions/health/_spell_duration
-- Purpose: Returns a length of time as a person writes it: 1.5 s, 10 min 00 s, 3 d 04 h.
-- Called by: checks of doctor.

begin;

create function _qwf.spell_duration(p_length interval) returns text
language sql immutable parallel safe
as $$
  select case
    when l.seconds < 9.95 then round(l.seconds, 1) || ' s'
    when l.seconds < 59.5 then round(l.seconds) || ' s'
    when l.whole < 3600 then format('%s min %s s', l.whole / 60, to_char(l.whole % 60, 'FM00'))
    when l.whole < 48 * 3600
      then format('%s h %s min', l.whole / 3600, to_char(l.whole / 60 % 60, 'FM00'))
    else format('%s d %s h', l.whole / 86400, to_char(l.whole / 3600 % 24, 'FM00'))
  end
  from (
    select e.seconds, round(e.seconds)::bigint as whole
    from (select extract(epoch from p_length) as seconds) e) l
$$;

commit;
