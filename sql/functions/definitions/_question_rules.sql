-- Deploy qwf:functions/definitions/_question_rules
-- Purpose: Reports values of an input step that have the right type but are not allowed.
-- Guarantees: Never raises, whatever the step holds. Paths start at the step.
-- Called by: _question_problems.

begin;

create function _qwf.question_rules(p_step jsonb) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_widget text := p_step ->> 'widget';
begin
  return query
    select rule.path, rule.problem, rule.hint
    from (values
      ('.widget', v_widget = '', 'must not be empty', null),
      ('.widget', v_widget = 'on_failure', 'is reserved for failed nodes', 'choose another widget'),
      ('.widget', v_widget = 'multiple', '"multiple" is a key, not a widget',
        'write "widget": "choose_one", "multiple": true'),
      ('.widget', not p_step ?| array['widget', 'signal'], 'is missing',
        'ask a person with a "widget", wait for a "signal", or both'),
      ('.signal', p_step -> 'signal' in ('""', '[]'), 'must not be empty', null),
      ('.signal', jsonb_path_exists(p_step -> 'signal',
          'strict $[*] ? (@.type() == "array" || @.type() == "boolean" || @.type() == "null")',
          '{}', true),
        'has a part that is not a text, a number or an expression', null),
      ('.default', p_step ? 'default' and not p_step ? 'expires', 'needs "expires"',
        'set "expires" to the time after which the default is taken as the answer'),
      ('.target', jsonb_typeof(p_step -> 'target') = 'string'
          and p_step ->> 'target' !~ '^[A-Za-z_][A-Za-z0-9_]*$',
        'must be a name: letters, digits and _', 'references read the answer as <step>.<target>'),
      ('.target', p_step ->> 'target' = 'files', '"files" is reserved', 'choose another target'),
      ('.options', v_widget in ('choose_one', 'turnout')
          and not p_step ?| array['options', 'source'],
        'is missing', 'list the "options", or say in "source" where they come from'),
      ('.options', p_step -> 'options' = '[]', 'must have at least one option', null),
      ('.options', jsonb_typeof(p_step -> 'options') = 'object'
          and not exists (
            select from _qwf.expressions(p_step -> 'options', '') e where e.path = ''),
        'is neither a list nor an expression', 'write {"$from": "<step>.<key>"}, or a list'),
      ('.pattern', v_widget = 'text' and jsonb_typeof(p_step -> 'pattern') = 'string'
          and not _qwf.is_pattern(p_step -> 'pattern'),
        'is not a regular expression', null),
      ('.min_length', v_widget = 'text' and p_step -> 'min_length' < '0', 'must not be negative',
        null),
      ('.min_length', v_widget = 'text' and p_step -> 'min_length' > p_step -> 'max_length',
        'is larger than max_length', null),
      ('.min', v_widget = 'number' and p_step -> 'min' > p_step -> 'max', 'is larger than max',
        null),
      ('.step', v_widget = 'number' and p_step -> 'step' <= '0', 'must be positive', null)
    ) rule (path, violated, problem, hint)
    where rule.violated;
end $$;

commit;
