-- References become values once outputs exist. Claims resolve the inputs of nodes; runs resolve
-- conditions, maps and outputs.

create type _qwf.resolution as (value jsonb, error text);
comment on type _qwf.resolution is
  'A resolved value, or why a reference in it could not be resolved. One of them is null.';

-- Resolves the references of a value against a scope, by the rules of docs/references.md.
-- Raises: QW005 for a value or a scope that is too large or nested too deeply; QW004 when a
--   reference is unresolvable, malformed or meets a value of the wrong kind.
create function qwf.resolve(value jsonb, scope jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_result _qwf.resolution;
begin
  perform _qwf.check_json('value', resolve.value, s.max_value_bytes),
    _qwf.check_json('scope', resolve.scope, s.max_value_bytes)
  from qwf.settings s;
  v_result := _qwf.resolve(resolve.value, resolve.scope);
  if v_result.error is not null then
    raise exception using
      errcode = 'QW004',
      message = 'reference cannot be resolved',
      detail = v_result.error,
      hint = 'check what the scope contains, or give the reference a "$default"';
  end if;
  return v_result.value;
end $$;
comment on function qwf.resolve is
  'Returns value with every reference replaced by what it finds in scope; raises QW004 and names '
  'the reference that cannot be resolved.';
call _qwf.allow('qwf.resolve', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

-- Resolves the references of a value. Never raises and starts no subtransaction: an error is a
-- value. Its text begins with "unresolvable" (a path leads nowhere), "malformed" (not an
-- expression) or "invalid" (a value of the wrong kind). Simple expressions handle the common
-- case: an object whose members are literals and plain compiled references.
create function _qwf.resolve(p_value jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb := jsonb '{}';
  v_keys text[];
  v_key text;
  v_member jsonb;
  v_path text[];
begin
  if jsonb_typeof(p_value) = 'object' then
    v_keys := array(select jsonb_object_keys(p_value));
  end if;
  if coalesce(cardinality(v_keys), 101) > 100 then  -- adding members one by one takes n * n time
    return _qwf.resolve_value(coalesce(p_value, 'null'), coalesce(p_scope, '{}'));
  end if;
  foreach v_key in array v_keys loop
    v_member := p_value -> v_key;
    if jsonb_typeof(v_member) in ('object', 'array') then
      if jsonb_typeof(v_member -> '$from') = 'array' and v_member - '$from' = '{}' then
        v_member := v_member -> '$from';
        v_path := '{}';
        for v_index in 0 .. jsonb_array_length(v_member) - 1 loop
          v_path := v_path || case jsonb_typeof(v_member -> v_index)
            when 'string' then v_member ->> v_index end;
        end loop;
        v_member := p_scope #> nullif(v_path, '{}');
      elsif v_member::text ~ '"[$]' then
        v_member := (_qwf.resolve_value(v_member, coalesce(p_scope, '{}'))).value;
      end if;
    end if;
    if v_member is null or starts_with(v_key, '$') then  -- an expression or an error
      return _qwf.resolve_value(p_value, coalesce(p_scope, '{}'));
    end if;
    v_value := v_value || jsonb_build_object(v_key, v_member);
  end loop;
  return row(v_value, null)::_qwf.resolution;
end $$;

-- Resolves a value of any shape, depth first. Never raises. The first error wins: members in the
-- key order of jsonb, elements from the left. A value fetched by a reference is data and is not
-- resolved again.
create function _qwf.resolve_value(p_value jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result _qwf.resolution;
begin
  if p_value::text !~ '"[$]' then  -- no key begins with $: nothing to resolve
    return row(p_value, null)::_qwf.resolution;
  elsif jsonb_typeof(p_value) = 'array' then
    select jsonb_agg((resolved.it).value order by resolved.position),
      (array_agg((resolved.it).error order by resolved.position)
        filter (where (resolved.it).error is not null))[1]
    into v_result
    from (
      select _qwf.resolve_value(element.value, p_scope) as it, element.position
      from jsonb_array_elements(p_value) with ordinality as element (value, position)
      offset 0) resolved;  -- offset: evaluate each once
  elsif jsonb_typeof(p_value) = 'object' then
    if exists (select from jsonb_object_keys(p_value) k where starts_with(k, '$')) then
      return _qwf.resolve_expression(p_value, p_scope);
    end if;
    select jsonb_object_agg(resolved.key, (resolved.it).value),
      (array_agg((resolved.it).error order by resolved.position)
        filter (where (resolved.it).error is not null))[1]
    into v_result
    from (
      select member.key, _qwf.resolve_value(member.value, p_scope) as it, member.position
      from jsonb_each(p_value) with ordinality as member (key, value, position)
      offset 0) resolved;
  else
    return row(p_value, null)::_qwf.resolution;
  end if;
  if v_result.error is not null then
    v_result.value := null;
  end if;
  return v_result;
end $$;

-- Resolves one expression: an object with a key that begins with $. Never raises. A $coalesce
-- gives its first candidate that resolves and is not null, else its $default; a malformed or
-- invalid candidate is an error. A $from that cannot be resolved gives its $default; then
-- $filter applies, then $eq or $ne.
create function _qwf.resolve_expression(p_expression jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_malformed text := _qwf.malformed(p_expression);
  v_problems text;
  v_found _qwf.resolution;
  v_operand _qwf.resolution;
  v_candidate jsonb;
begin
  if v_malformed is not null then
    return row(null, 'malformed: ' || v_malformed)::_qwf.resolution;
  elsif p_expression ? '$value' then
    return row(p_expression -> '$value', null)::_qwf.resolution;
  elsif p_expression ? '$coalesce' then
    for v_candidate in select c from jsonb_array_elements(p_expression -> '$coalesce') c loop
      v_found := _qwf.resolve_value(v_candidate, p_scope);
      if v_found.value <> 'null' or not starts_with(v_found.error, 'unresolvable') then
        return v_found;
      end if;
    end loop;
    if p_expression ? '$default' then
      return _qwf.resolve_value(p_expression -> '$default', p_scope);
    end if;
    return row(null, 'unresolvable: no candidate of "$coalesce" has a value')::_qwf.resolution;
  elsif p_expression ? '$check' then
    v_found := _qwf.resolve_value(p_expression -> '$check', p_scope);
    if v_found.error is not null then
      return v_found;
    end if;
    v_found.value := _qwf.with_defaults(v_found.value, p_expression -> 'schema');
    select string_agg(format('input %s %s', p.path, p.problem), '; ')
    into v_problems
    from _qwf.schema_problems(v_found.value, p_expression -> 'schema', p_expression ->> 'input') p;
    if v_problems is not null then
      return row(null, 'invalid: ' || v_problems)::_qwf.resolution;
    end if;
    return v_found;
  end if;
  v_found := _qwf.resolve_path(p_expression -> '$from', p_scope);
  if starts_with(v_found.error, 'unresolvable') and p_expression ? '$default' then
    v_found := _qwf.resolve_value(p_expression -> '$default', p_scope);
  end if;
  if v_found.error is null and p_expression ? '$filter' then
    v_operand := _qwf.resolve_value(p_expression -> '$filter', p_scope);
    if v_operand.error is not null then
      return v_operand;
    end if;
    v_found := _qwf.apply_filter(v_found.value, v_operand.value, p_expression -> '$filter');
  end if;
  if v_found.error is null and p_expression ?| array['$eq', '$ne'] then
    v_operand := _qwf.resolve_value(
      coalesce(p_expression -> '$eq', p_expression -> '$ne'), p_scope);
    if v_operand.error is not null then
      return v_operand;
    end if;
    v_found.value := to_jsonb((v_found.value = v_operand.value) = (p_expression ? '$eq'));
  end if;
  return v_found;
end $$;

-- Follows the path of one $from through the scope. Returns what it finds as data, unchanged.
-- Every path that starts from a name that is null in the scope (a node that failed or was
-- cancelled) gives null. Never raises; an error begins with "unresolvable", or is that of the
-- expression that the path starts from.
create function _qwf.resolve_path(p_path jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.resolution;
  v_segments text[];
  v_rest text[];
begin
  if jsonb_typeof(p_path) = 'string' then
    v_segments := string_to_array(p_path #>> '{}', '.');
  else
    v_segments := array(select * from jsonb_array_elements_text(p_path));
  end if;
  v_rest := v_segments[2:];
  case jsonb_typeof(p_path -> 0)
    when 'object' then  -- an expression: the rest of the path leads into its value
      v_found := _qwf.resolve_value(p_path -> 0, p_scope);
      if v_found.error is not null then
        return v_found;
      end if;
      v_found.value := v_found.value #> v_rest;
      v_segments[1] := '(...)';
    when 'array' then  -- several nodes: the first whose output has the rest of the path
      select case when p_scope -> name.value = 'null' then 'null'
        else p_scope #> (name.value || v_rest) end
      into v_found.value
      from jsonb_array_elements_text(p_path -> 0) with ordinality as name (value, position)
      where p_scope #> (name.value || v_rest) is not null or p_scope -> name.value = 'null'
      order by p_scope -> name.value = 'null', name.position
      limit 1;
    else
      v_found.value := case when p_scope -> v_segments[1] = 'null' then 'null'
        else p_scope #> v_segments end;
  end case;
  if v_found.value is null then
    v_found.error := format('unresolvable reference %s', array_to_string(v_segments, '.'));
  end if;
  return v_found;
end $$;

-- Returns the elements of a list that meet every condition of a $filter, in their order. A value
-- that is not a list, or an invalid pattern, gives an error value. Expects the resolved
-- conditions, and the conditions as they are written: a pattern that a reference gave must be
-- plain, because a producer must not choose how long it takes.
create function _qwf.apply_filter(p_list jsonb, p_conditions jsonb, p_written jsonb)
returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list jsonb := p_list;
  v_key text;
  v_operand jsonb;
  v_field text[];
  v_matches boolean;
begin
  if jsonb_typeof(p_list) <> 'array' then
    return row(null, format('invalid: "$filter" needs a list, not a value of type %s',
      jsonb_typeof(p_list)))::_qwf.resolution;
  end if;
  for v_key, v_operand in select c.key, c.value from jsonb_each(p_conditions) c loop
    v_field := string_to_array((_qwf.filter_operator(v_key))[2], '.');
    v_matches := (_qwf.filter_operator(v_key))[1] = 'matches';
    if v_matches and jsonb_typeof(p_written -> v_key) <> 'string'
      and not _qwf.is_plain_pattern(v_operand #>> '{}')
    then
      return row(null, format('invalid: "$filter" key "%s": a pattern from a reference may have '
        'at most 200 characters and no back reference, look-ahead, look-behind or count in braces',
        v_key))::_qwf.resolution;
    elsif v_matches and not _qwf.is_pattern(v_operand) then
      return row(null, format('invalid: "$filter" key "%s" needs a regular expression',
        v_key))::_qwf.resolution;
    end if;
    select coalesce(jsonb_agg(element.value order by element.position), '[]')
    into v_list
    from jsonb_array_elements(v_list) with ordinality as element (value, position)
    where case
      when v_matches then element.value #>> v_field ~ (v_operand #>> '{}')
      else coalesce(element.value #> v_field, 'null') = v_operand
    end;
  end loop;
  return row(v_list, null)::_qwf.resolution;
end $$;

-- Returns the operator and the field of one $filter key, as {operator, field}. Tries eq:field
-- and matches:field first, then field:eq and field:matches; null for anything else.
create function _qwf.filter_operator(p_key text) returns text[]
language sql immutable parallel safe
return case
  when p_key ~ '^(eq|matches):.' then
    array[split_part(p_key, ':', 1), substr(p_key, strpos(p_key, ':') + 1)]
  when p_key ~ '.:(eq|matches)$' then
    array[substring(p_key from '[a-z]+$'), regexp_replace(p_key, ':(eq|matches)$', '')]
end;

-- True for a regular expression that takes little time, whatever text it meets. It has at most
-- 200 characters, no back reference, no look-ahead or look-behind, and no count in braces. Does
-- not try it out: counts within counts take seconds to compile.
create function _qwf.is_plain_pattern(p_pattern text) returns boolean
language sql immutable parallel safe
return length(p_pattern) <= 200 and p_pattern !~ E'[\\\\][1-9]|[(][?]<?[=!]|[{]';

-- True when a resolved skip_if counts as true. False for null, false, 0, "", [], {} and SQL
-- null; true for everything else.
create function _qwf.is_true(p_value jsonb) returns boolean
language sql immutable parallel safe
return coalesce(p_value not in ('false', 'null', '0', '""', '[]', '{}'), false);

-- Puts the SQLSTATE in front of the error of a node whose references could not be resolved.
-- QW005 when a value was found but violates its schema, else QW004. At most about
-- max_error_bytes: a path that a reference computes can be as long as the value it comes from.
create function _qwf.resolution_error(p_error text) returns text
language sql stable strict
as $$
  select _qwf.clip(
    case when p_error like 'invalid%' then 'QW005: ' else 'QW004: ' end || p_error,
    (select s.max_error_bytes from qwf.settings s))
$$;

-- Returns what the references of one node can see. Reads only the nodes and files that the graph
-- node names, each by an index, however many the run has; all nodes for one that reads its run.
-- Outputs of skipped nodes are absent; those of failed or cancelled nodes are null. Of its run a
-- node sees how it ends, which is null while that is open. Inlined into the query of its caller,
-- but not what only few nodes read: files and the run.
create function _qwf.scope(p_run_id bigint, p_nodes int[], p_files text[], p_reads_run boolean)
returns table (scope jsonb)
language sql stable rows 1
as $$
  select jsonb_build_object('$context', r.context) || coalesce(o.outputs, '{}')
    || case when cardinality(p_files) = 0 then '{}' else _qwf.files_in_scope(p_run_id, p_files) end
    || case when p_reads_run then _qwf.run_in_scope(p_run_id) else '{}' end
  from qwf.runs r
  cross join lateral (
    select jsonb_object_agg(d.node_id, coalesce(d.output, 'null')) as outputs
    from unnest(p_nodes) n (idx)
    cross join lateral (  -- offset: uses the index, whatever the statistics say
      select j.node_id, j.output, j.status from qwf.jobs j
      where j.run_id = p_run_id and j.node_idx = n.idx offset 0) d
    where d.output is not null or d.status in ('failed', 'cancelled')
  ) o
  where r.id = p_run_id
$$;

-- Returns the files of steps or nodes as the references of a node see them.
create function _qwf.files_in_scope(p_run_id bigint, p_files text[]) returns jsonb
language sql stable
as $$
  select jsonb_build_object('$files', (
    select jsonb_object_agg(k.key, (
      select coalesce(jsonb_agg(jsonb_build_object(
        'rel_path', f.rel_path, 'kind', f.kind, 'size_bytes', f.size_bytes, 'host', f.host,
        'path', f.path)
        order by f.rel_path), '[]')
      from qwf.file_overview f
      where f.run_id = p_run_id and f.completed and (
        f.node_id = k.key or f.node_id ^@ (k.key || '/') or f.node_id ^@ (k.key || '['))))
    from unnest(p_files) k (key)))
$$;

-- Returns a run as the references of its own nodes see it: its id, how it ends (null while that
-- is open), its error (before a retry that takes back: that it does) and its failed nodes.
create function _qwf.run_in_scope(p_run_id bigint) returns jsonb
language sql stable
as $$
  select jsonb_build_object('$run', jsonb_build_object(
    'id', r.id, 'status', r.ending, 'failed', (
      select coalesce(jsonb_agg(j.node_id order by j.node_idx), '[]')
      from qwf.jobs j
      where j.run_id = p_run_id and j.node_idx >= 0 and j.status = 'failed'),
    'error', case when r.then_retry is null then r.error
      else 'it is taken back before it runs again' end))
  from qwf.runs r
  where r.id = p_run_id
$$;
