-- Deploy qwf:functions/search/_option_advice
-- Purpose: Says where to give an option to a job, a schedule or a node that lacks it.
-- Guarantees: Quotes for the shell, SQL and YAML. Never fails because of what a worker announced.
-- Called by: find_missing_options.

begin;

create function _qwf.option_advice(p_kind text, p_option text, p_declared text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain boolean := p_option in (
    'max_attempts', 'max_losses', 'vram_mb', 'priority', 'light', 'at_most_once');
  v_node text := p_option || ': ' || case
    when v_plain or p_option in ('backoff', 'labels', 'requires') then p_declared
    else to_json(p_declared)::text end;
  v_words text := format('--%s %s', replace(p_option, '_', '-'), _qwf.shell_quoted(p_declared));
begin
  if p_option in ('max_attempts', 'max_losses', 'backoff') then
    v_node := format('retry: {%s}', v_node);
  elsif p_option in ('light', 'at_most_once') then
    v_words := '--' || replace(p_option, '_', '-');
  elsif p_option in ('labels', 'requires') then
    begin
      select string_agg(format('--%s %s', rtrim(p_option, case p_option when 'labels' then 's'
          else '' end), _qwf.shell_quoted(l.key || '=' || l.value)), ' ')
      into v_words
      from jsonb_each_text(p_declared::jsonb) l;
    exception when invalid_text_representation or invalid_parameter_value then
      null;  -- it is no JSON object: as it was announced
    end;
  end if;
  return case
    when p_kind = 'node' then format('give %s in the node', v_node)
    when p_kind = 'job' then format('give %s, or %s => %s in SQL', v_words, p_option,
      case when v_plain then p_declared else quote_literal(p_declared) end)
    when p_option in ('queue', 'priority', 'project') then 'give ' || v_words
    else 'give --options ' || _qwf.shell_quoted(format('{"%s": %s}', p_option, case
      when v_plain or p_option in ('backoff', 'labels', 'requires') then p_declared
      else to_json(p_declared)::text end))
  end;
end $$;

commit;
