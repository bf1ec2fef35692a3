-- Deploy qwf:functions/definitions/_definition_keys
-- Purpose: Returns every key that an object of a definition may have, with its types, by the kind
--   of the object.
-- Guarantees: The types are those of _key_problems. What a key means is written in
--   docs/reference/definition.schema.json, which has the same keys.
-- Called by: the functions that check definitions.

begin;

create function _qwf.definition_keys() returns jsonb
language sql immutable parallel safe
return jsonb '{
  "pipeline": {"$schema": "string", "name": "string", "display_name": "string", "mode": "string",
    "requires_gpu": "boolean", "inputs": "object", "outputs": "object", "nodes": "array"},
  "node": {"id": "string", "node": "string", "command": "array", "depends_on": "array",
    "inputs": ["object", "array"], "skip_if": "any", "queue": "string", "gpu": "boolean",
    "light": "boolean", "model": ["string", "null"], "vram_mb": "integer", "requires": "object",
    "retry": "object", "at_most_once": "boolean", "timeout": "interval",
    "stall_timeout": "interval", "on_failure": "string", "run_if": "string",
    "compensates": "array", "limit_by": "string",
    "map": ["array", "object"], "max_parallel": "integer",
    "min_success": ["integer", "string"], "stop_when_reached": "boolean", "repeat": "object",
    "delay": "any", "display_name": "string", "kind": "string", "outputs": ["array", "object"]},
  "repeat": {"until": "any", "max": "integer", "every": "interval"},
  "retry": {"max_attempts": "integer", "max_losses": "integer", "backoff": ["array", "object"]},
  "backoff": {"base": "number", "factor": "number", "max": "number"},
  "input": {"name": "string", "from": "string"},
  "workflow": {"$schema": "string", "name": "string", "display_name": "string", "mode": "string",
    "requires_gpu": "boolean", "inputs": "object", "outputs": "object", "steps": "array",
    "deadline": "interval", "expect": "object"},
  "expect": {"takes": "interval", "starts_within": "interval", "every": "interval"},
  "step": {"id": "string", "kind": "string", "depends_on": "array", "skip_if": "any",
    "delay": "any",
    "display_name": "string", "map": "node", "max_parallel": "node", "min_success": "node",
    "stop_when_reached": "node", "repeat": "node", "run_if": "node", "compensates": "node",
    "on_failure": "node", "limit_by": "node",
    "at_most_once": "node"},
  "pipeline step": {"pipeline": "string", "inputs": ["object", "array"]},
  "workflow step": {"workflow": "string", "inputs": ["object", "array"],
    "map": ["array", "object"], "max_parallel": "integer", "min_success": ["integer", "string"],
    "stop_when_reached": "boolean", "repeat": "object", "on_failure": "string", "run_if": "string",
    "compensates": "array", "retry": "object", "timeout": "interval", "limit_by": "string"},
  "input step": {"widget": "string", "signal": ["string", "array"],
    "prompt": ["string", "object"], "target": "string", "source": "any",
    "show": ["string", "array", "object"], "schema": "object", "expires": "interval",
    "default": "any"},
  "widgets": {
    "choose_one": {"options": ["array", "object"], "multiple": "boolean"},
    "turnout": {"options": ["array", "object"], "multiple": "boolean"},
    "confirm": {},
    "text": {"min_length": "integer", "max_length": "integer", "pattern": "string",
      "multiline": "boolean"},
    "number": {"min": "number", "max": "number", "step": "number", "integer": "boolean",
      "unit": "string"},
    "file": {"accept": ["string", "array"], "multiple": "boolean", "library": "any"},
    "json": {}},
  "schema": {"type": ["string", "array"], "properties": "object",
    "properties_order": "array", "required": "array",
    "items": "object", "additionalProperties": "boolean", "enum": "array", "default": "any",
    "pattern": "string", "minimum": "number", "maximum": "number", "minLength": "integer",
    "maxLength": "integer", "title": "string", "description": "string", "examples": "any"}}';

commit;
