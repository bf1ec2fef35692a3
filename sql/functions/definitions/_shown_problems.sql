-- Deploy qwf:functions/definitions/_shown_problems
-- Purpose: Reports what a front end could not show of an input step: entries of show, and the
--   picture, label and help of an option.
-- Guarantees: Never raises, whatever the step holds. Paths start at the step. An expression is left
--   to the run. Any other key of an option is data.
-- Called by: _question_problems.

begin;

create function _qwf.shown_problems(p_step jsonb) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_show jsonb := p_step -> 'show';
begin
  return query
    with shown (path, value, longest) as (  -- longest: of a text; null: a file
      select '.show' || case when jsonb_typeof(v_show) = 'array'
          then format('[%s]', s.place - 1) else '' end, s.value, null::int
      from jsonb_array_elements('[]' || v_show) with ordinality as s (value, place)
      where jsonb_typeof(v_show) in ('string', 'array', 'object')
      union all
      select format('.options[%s].%s', o.place - 1, key.name), o.option -> key.name, key.longest
      from jsonb_array_elements(_qwf.as_list(p_step -> 'options'))
        with ordinality as o (option, place)
      cross join (values ('picture', null), ('label', 200), ('help', 2000)) key (name, longest)
      where p_step ->> 'widget' in ('choose_one', 'turnout')
        and jsonb_typeof(o.option) = 'object' and o.option ? key.name
    )
    select s.path,
      case when s.longest is null then 'must be a file'
        else format('must be a text of at most %s characters', s.longest) end,
      case when s.longest is null
        then 'give its path, an entry of {"$from": "<node>.files"}, or an expression' end
    from shown s
    where not exists (select from _qwf.expressions(s.value, '') e where e.path = '')
      and coalesce(case when s.longest is null
        then length(coalesce(s.value ->> 'rel_path', s.value #>> '{}')) not between 1 and 4096
          or jsonb_typeof(coalesce(s.value -> 'rel_path', s.value)) <> 'string'
        else length(s.value #>> '{}') > s.longest or jsonb_typeof(s.value) <> 'string' end, true)
    union all
    select '.show', 'has more than 100 files', null
    where jsonb_array_length(_qwf.as_list(v_show)) > 100;
end $$;

commit;
