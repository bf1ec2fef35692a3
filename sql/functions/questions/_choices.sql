-- Deploy qwf:functions/questions/_choices
-- Purpose: What may be chosen in a choose_one or turnout question.
-- Guarantees: An option that is an object may be chosen whole, or by its value or id. A question
--   without any option takes null.
-- Called by: _answer_problems.

begin;

create function _qwf.choices(p_spec jsonb) returns jsonb
language sql immutable
as $$
  select coalesce(jsonb_agg(c.choice), '[null]')
  from jsonb_array_elements(case
    when jsonb_typeof(p_spec -> 'options') = 'array' then p_spec -> 'options'
    when jsonb_typeof(p_spec -> 'source') = 'array' then p_spec -> 'source'
    else '[]' end) o
  cross join lateral (values (o.value), (o.value -> 'value'), (o.value -> 'id')) c (choice)
  where c.choice is not null
$$;

commit;
