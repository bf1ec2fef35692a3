-- Deploy qwf:functions/definitions/_notice_widgets
-- Purpose: Tells who registers a workflow which of its widgets qwf does not know.
-- Guarantees: Only a notice: a front end may have widgets of its own. It names the keys that qwf
--   does not know, one of which may be mistyped.
-- Called by: register_workflow.

begin;

create function _qwf.notice_widgets(p_definition jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_widgets constant jsonb := _qwf.definition_keys() -> 'widgets';
  v_known constant jsonb := _qwf.definition_keys() -> 'step'
    || (_qwf.definition_keys() -> 'input step') || '{"options": 0, "multiple": 0}';
  v_step text;
  v_widget text;
  v_own text;  -- keys that only the front end knows
begin
  for v_step, v_widget, v_own in
    select i.id, i.item ->> 'widget', (
      select string_agg(k, ', ' order by k)
      from jsonb_object_keys(i.item) k
      where not v_known ? k)
    from _qwf.items(p_definition -> 'steps') i
    where i.item ->> 'kind' = 'input' and not v_widgets ? (i.item ->> 'widget')
    order by i.place
  loop
    raise notice using message = format('step %I has the unknown widget %I', v_step, v_widget),
      detail = coalesce('only the front end reads its keys ' || v_own, 'it has no keys of its own'),
      hint = coalesce(
        _qwf.did_you_mean(v_widget, array(select jsonb_object_keys(v_widgets))) || ' if not: ', '')
        || 'its answers are checked by its "options" and its "schema" only';
  end loop;
end $$;

commit;
