-- Deploy qwf:functions/finish/_may_have_run
-- Purpose: True for the end of an attempt about which the body said nothing, if its job runs at
--   most once and the body may have begun: no other try may follow.
-- Guarantees: What the body says itself is not such an end: that it completed, failed, was given
--   wrong arguments, or that nothing happened (a transient failure, or the reason later). A card or
--   a disk that failed under it is one. Inlined.
-- Called by: _record_attempts, _write_ended.

begin;

create function _qwf.may_have_run(p_begun boolean, p_outcome text, p_reason text) returns boolean
language sql immutable
as $$
  select coalesce(p_begun and case p_outcome
    when 'lost' then true
    when 'released' then coalesce(p_reason not in ('later', 'older_code'), true)
    when 'tempfail' then coalesce(p_reason in ('accelerator', 'disk_full'), false)
    else false end, false)
$$;

commit;
