-- Deploy qwf:functions/definitions/_default_problems
-- Purpose: What is wrong with the default of an input step, held against its question as an answer
--   would be.
-- Guarantees: null is always a default. Where only a run knows the options, the schema counts
--   alone. The step has no other problem; paths start at the step.
-- Called by: _question_problems.

begin;

create function _qwf.default_problems(p_step jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offered jsonb := jsonb_build_array(p_step -> 'options', p_step -> 'source');
begin
  return query
    select regexp_replace(p.path, '^value', '.default'), p.problem, p.hint
    from _qwf.answer_problems(
      case when v_offered::text ~ '"\$' then p_step - 'widget' else p_step end,
      p_step -> 'default') p
    where p_step -> 'default' <> 'null';
end $$;

commit;
