-- Deploy qwf:functions/read/_element_counts
-- Purpose: How far a map is: its elements by state.
-- Guarantees: Nothing is read for a node that is no map.
-- Called by: run_status.

begin;

create function _qwf.element_counts(p_map bigint, p_elements int) returns jsonb
language sql stable
as $$
  select case when p_elements is null then '{}' else jsonb_build_object('elements', (
    select coalesce(jsonb_object_agg(s.status, s.count), '{}')
    from (
      select j.status, count(*) from qwf.jobs j where j.parent_id = p_map group by j.status
    ) s)) end
$$;

commit;
