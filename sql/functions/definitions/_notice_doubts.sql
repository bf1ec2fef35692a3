-- Deploy qwf:functions/definitions/_notice_doubts
-- Purpose: Tells who registers a definition which of its widgets qwf does not know, and which
--   skip_if cannot be resolved if the step or node that it reads is skipped itself.
-- Guarantees: Only notices: a front end may have widgets of its own, and the two may never be
--   skipped together. Of a widget it names the keys that qwf does not know, one of which may be
--   mistyped.
-- Called by: register_pipeline, register_workflow.

begin;

create function _qwf.notice_doubts(p_items jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schemas constant jsonb := _qwf.definition_schema() -> '$defs';
  v_widgets constant jsonb := v_schemas #> '{widget,enum}';
  v_known constant jsonb := (v_schemas #> '{step,properties}')
    || (v_schemas #> '{input_step,properties}') || '{"options": 0, "multiple": 0}';
  v_step text;
  v_widget text;
  v_own text;  -- keys that only the front end knows
  v_read text;
  v_path text;
begin
  for v_step, v_widget, v_own in
    select i.id, i.item ->> 'widget', (
      select string_agg(k, ', ' order by k)
      from jsonb_object_keys(i.item) k
      where not v_known ? k)
    from _qwf.items(p_items) i
    where i.item ->> 'kind' = 'input' and not v_widgets ? (i.item ->> 'widget')
    order by i.place
  loop
    raise notice using message = format('step %I has the unknown widget %I', v_step, v_widget),
      detail = coalesce('only the front end reads its keys ' || v_own, 'it has no keys of its own'),
      hint = coalesce(
        _qwf.did_you_mean(v_widget, array(select jsonb_array_elements_text(v_widgets)))
          || ' if not: ', '')
        || 'its answers are checked by its "options" and its "schema" only';
  end loop;
  for v_step, v_read, v_path in
    select i.id, r.id, e.expression ->> '$from'
    from _qwf.items(p_items) i
    cross join lateral _qwf.expressions(i.item -> 'skip_if', 'skip_if') e
    join _qwf.items(p_items) r
      on r.id = split_part((_qwf.segments(e.expression -> '$from'))[1], '/', 1)
    where r.item -> 'skip_if' <> 'false' and not e.optional and not e.expression ? '$default'
    order by i.place, e.path
  loop
    raise notice using
      message = format('skip_if of %s reads %s, which may be skipped itself', v_step, v_read),
      detail = format('then "%s" leads nowhere, and %s fails', v_path, v_step),
      hint = 'give the reference a "$default": the value if that was skipped';
  end loop;
end $$;

commit;
