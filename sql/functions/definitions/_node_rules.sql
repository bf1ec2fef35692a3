-- Deploy qwf:functions/definitions/_node_rules
-- Purpose: Reports values of a node that have the right type but are not allowed.
-- Guarantees: Never raises, whatever the node holds. Paths start at the node.
-- Called by: _node_problems.

begin;

create function _qwf.node_rules(p_node jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gpu boolean := p_node -> 'gpu' = 'true' or p_node ? 'queue';
  v_requires text := _qwf.requires_problem(_qwf.as_object(p_node -> 'requires'));
begin
  return query
    select rule.path, rule.problem, rule.hint
    from (values
      ('.on_failure', jsonb_typeof(p_node -> 'on_failure') = 'string'
          and p_node ->> 'on_failure' not in ('fail', 'continue', 'ask'),
        'must be "fail", "continue" or "ask"', null),
      ('.run_if', jsonb_typeof(p_node -> 'run_if') = 'string'
          and p_node ->> 'run_if' <> 'all_done',
        'must be "all_done"', 'omit it to run only when the dependencies are satisfied'),
      ('.compensates', p_node ?& array['compensates', 'run_if'],
        'cannot be combined with "run_if"', 'it runs only if the run fails or is cancelled'),
      ('.compensates', p_node ?& array['compensates', 'depends_on'],
        'cannot be combined with "depends_on"', 'it waits for what it compensates'),
      ('.compensates', p_node -> 'compensates' = '[]', 'names nothing', 'such as ["charge"]'),
      ('.node', p_node ->> 'node' !~ '^[^[:space:]]{1,200}$',
        'must be 1 to 200 characters without whitespace', null),
      ('.command', p_node ?& array['node', 'command'], 'cannot be combined with "node"',
        'a node runs either a task or a command'),
      ('.command', p_node -> 'command' = '[]', 'must name a program', null),
      ('.command', exists (
          select from jsonb_array_elements(_qwf.as_list(p_node -> 'command')) word
          where jsonb_typeof(word) not in ('string', 'number')
            and not exists (select from _qwf.expressions(word, '') e where e.path = '')),
        'must contain only strings, numbers and references', null),
      ('.inputs.command',
        p_node ? 'command' and _qwf.named_inputs(p_node -> 'inputs') ? 'command',
        'is reserved for the command itself', 'choose another name'),
      ('.model', jsonb_typeof(p_node -> 'model') = 'string' and v_gpu is not true,
        'needs a queue with a GPU', 'add "gpu": true, or a "queue"'),
      ('.model', p_node -> 'model' = '""', 'must not be empty', null),
      ('.requires', v_requires is not null, v_requires,
        'a worker has the labels of --label, which are texts, and the label "host"'),
      ('.vram_mb', p_node ? 'vram_mb' and v_gpu is not true, 'needs a queue with a GPU',
        'add "gpu": true, or a "queue"'),
      ('.vram_mb', p_node -> 'vram_mb' not between '0' and '10000000',
        'must be 0 to 10000000 MiB', null),
      ('.light', p_node -> 'light' = 'true' and p_node -> 'gpu' is distinct from 'true',
        'needs "gpu": true', 'a node without a GPU is always light'),
      ('.model', length(p_node ->> 'model') > 200, 'has more than 200 characters', null),
      ('.requires', octet_length((p_node -> 'requires')::text) > 65536, 'has more than 64 KiB',
        null),
      ('.retry.max_attempts', p_node #> '{retry,max_attempts}' not between '1' and '10000',
        'must be 1 to 10000', null),
      ('.retry.max_losses', p_node #> '{retry,max_losses}' not between '1' and '10000',
        'must be 1 to 10000', null),
      ('.retry.backoff', jsonb_typeof(p_node #> '{retry,backoff}') in ('array', 'object')
          and _qwf.backoff_seconds(p_node #> '{retry,backoff}', 1) is null,
        'is not a backoff',
        'write seconds such as [1, 5, 30], or {"base": 1, "factor": 2, "max": 600}')
    ) rule (path, violated, problem, hint)
    where rule.violated
    union all
    select * from _qwf.unknown_names(p_node);
end $$;

commit;
