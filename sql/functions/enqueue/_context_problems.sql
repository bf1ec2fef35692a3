-- Deploy qwf:functions/enqueue/_context_problems
-- Purpose: Returns what is wrong with the context of a run, as far as step inputs that depend on
--   the context alone can show it.
-- Guarantees: Skips steps with a skip_if: they may never run. Never raises.
-- Called by: enqueue_run, _schedule_problems.

begin;

create function _qwf.context_problems(p_graph bigint, p_context jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select c.item ->> 'input',
      regexp_replace(
        replace(r.error, 'unresolvable reference $context.', 'the context has no '),
        '^(invalid|unresolvable|malformed): ', ''),
      case when starts_with(r.error, 'unresolvable') then 'give it in the context of the run' end
    from qwf.graphs g
    cross join lateral jsonb_array_elements(g.context_checks) c (item)
    cross join lateral _qwf.resolve(
      c.item -> 'value', jsonb_build_object('$context', p_context)) r
    where g.id = p_graph and r.error is not null;
end $$;

commit;
