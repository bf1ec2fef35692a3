-- Deploy qwf:functions/shared/_raise_problems
-- Purpose: Raises one error that reports all problems.
-- Guarantees: DETAIL has one line per problem, "path: problem", so that a program can put each
--   problem at its place; a line break inside one becomes a space. HINT has each distinct hint
--   once. The log of the server repeats both: DETAIL has 60,000 bytes at most, HINT 4,000.
-- Raises: the given SQLSTATE, unless there is no problem.
-- Called by: answer_job, create_queue, create_schedule, enqueue_run, register_pipeline,
--   register_workflow, set_alert, _check_backfill, _check_mending, _graph_for, _resume_child,
--   _serve_run.

begin;

create function _qwf.raise_problems(p_sqlstate text, p_message text, p_problems _qwf.problem[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_problems) > 0 then
    raise exception using
      errcode = p_sqlstate,
      message = p_message,
      detail = (
        select _qwf.clip(string_agg(
          translate(format('%s: %s', p.path, p.problem), e'\n\r', '  '), e'\n' order by p.position),
          60000)
        from unnest(p_problems) with ordinality as p (path, problem, hint, position)),
      hint = coalesce(
        (select _qwf.clip(string_agg(h.hint, e'\n' order by h.position), 4000)
         from (select p.hint, min(p.position) as position
               from unnest(p_problems) with ordinality as p (path, problem, hint, position)
               where p.hint is not null
               group by p.hint) h),
        'correct what the detail lists and try again; nothing was written');
  end if;
end $$;

commit;
