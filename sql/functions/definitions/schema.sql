-- The JSON Schema of definitions, as far as the engine reads it. `make docs` writes this file
-- from sql/definition.schema.json, which is the source.

-- Returns the part of the JSON Schema of definitions that the engine reads. Written by `make
-- docs` from sql/definition.schema.json, which is the source: what a key may be, what is said
-- about a wrong one, and what it means.
create function _qwf.definition_schema() returns jsonb
language sql immutable parallel safe
return jsonb $json$
{"$defs": {"pipeline": {"type": "object", "required": ["name", "nodes"], "additionalProperties":
false, "properties": {"name": {"$ref": "#/$defs/name"}, "nodes": {"type": "array", "items": {"if": {
"required": ["workflow"]}, "then": {"$ref": "#/$defs/workflow_node"}, "else": {"$ref":
"#/$defs/node"}}}, "inputs": {"$ref": "#/$defs/inputs_schema"}, "outputs": {"$ref":
"#/$defs/exports"}, "display_name": {"type": "string"}, "mode": {"type": "string"}, "requires_gpu":
{"type": "boolean"}, "$schema": {"type": "string"}}}, "node": {"type": "object", "required": ["id"],
"additionalProperties": false, "properties": {"id": {"$ref": "#/$defs/id"}, "node": {"type":
"string", "pattern": "^\\S{1,200}$", "x-says": "must be 1 to 200 characters without whitespace"},
"command": {"type": "array", "allOf": [{"minItems": 1, "x-says": "must name a program"}, {"items": {
"anyOf": [{"type": ["string", "number"]}, {"$ref": "#/$defs/expression"}]}, "x-says":
"must contain only strings, numbers and references"}, {"$ref": "#/$defs/value"}]}, "depends_on": {
"type": "array", "items": {"type": "string"}}, "inputs": {"$ref": "#/$defs/inputs"}, "skip_if": {
"$ref": "#/$defs/condition"}, "delay": {"$ref": "#/$defs/delay"}, "map": {"$ref": "#/$defs/list"},
"max_parallel": {"$ref": "#/$defs/count"}, "min_success": {"type": ["integer", "string"], "minimum":
0, "maximum": 1000000, "pattern": "^(100|[1-9]?[0-9])%$", "x-says":
"must be a number of elements or a percentage", "x-hint": "write it like 3 or \"90%\""},
"stop_when_reached": {"type": "boolean"}, "repeat": {"$ref": "#/$defs/repeat"}, "on_failure": {
"type": "string", "enum": ["fail", "continue", "ask"], "x-says":
"must be \"fail\", \"continue\" or \"ask\""}, "run_if": {"type": "string", "const": "all_done",
"x-says": "must be \"all_done\"", "x-hint":
"omit it to run only when the dependencies are satisfied"}, "compensates": {"type": "array",
"items": {"type": "string"}}, "retry": {"$ref": "#/$defs/retry"}, "at_most_once": {"type":
"boolean"}, "timeout": {"$ref": "#/$defs/duration"}, "stall_timeout": {"$ref": "#/$defs/duration"},
"queue": {"type": "string", "x-check": "queue"}, "gpu": {"type": "boolean"}, "light": {"type":
"boolean"}, "model": {"type": ["string", "null"], "allOf": [{"minLength": 1, "x-says":
"must not be empty"}, {"maxLength": 200, "x-says": "has more than 200 characters"}]}, "vram_mb": {
"type": "integer", "minimum": 0, "maximum": 10000000, "x-says": "must be 0 to 10000000 MiB"},
"requires": {"type": "object", "additionalProperties": {"type": "string"}, "x-check": "requires"},
"limit_by": {"type": "string", "x-check": "limit"}, "display_name": {"type": "string"}, "kind": {
"type": "string"}, "outputs": {"type": ["array", "object"]}}, "allOf": [{"$ref":
"#/$defs/node_rules"}, {"not": {"required": ["node", "command"]}, "x-at": "command", "x-says":
"cannot be combined with \"node\"", "x-hint": "a node runs either a task or a command"}, {"if": {
"required": ["command"]}, "then": {"properties": {"inputs": {"properties": {"command": false},
"items": {"properties": {"name": {"not": {"const": "command"}}}}}}}, "x-at": "inputs.command",
"x-says": "is reserved for the command itself", "x-hint": "choose another name"}, {"if": {
"required": ["model"], "properties": {"model": {"type": "string"}}}, "then": {"$ref":
"#/$defs/on_gpu"}, "x-at": "model", "x-says": "needs a queue with a GPU", "x-hint":
"add \"gpu\": true, or a \"queue\""}, {"if": {"required": ["vram_mb"]}, "then": {"$ref":
"#/$defs/on_gpu"}, "x-at": "vram_mb", "x-says": "needs a queue with a GPU", "x-hint":
"add \"gpu\": true, or a \"queue\""}, {"if": {"required": ["light"], "properties": {"light": {
"const": true}}}, "then": {"properties": {"gpu": {"const": true}}, "required": ["gpu"]}, "x-at":
"light", "x-says": "needs \"gpu\": true", "x-hint": "a node without a GPU is always light"}]},
"on_gpu": {"anyOf": [{"properties": {"gpu": {"const": true}}, "required": ["gpu"]}, {"required": [
"queue"]}]}, "expect": {"type": "object", "additionalProperties": false, "properties": {"takes": {
"$ref": "#/$defs/duration"}, "starts_within": {"$ref": "#/$defs/duration"}, "every": {"$ref":
"#/$defs/duration"}}}, "repeat": {"type": "object", "required": ["until", "max"],
"additionalProperties": false, "properties": {"until": {"$ref": "#/$defs/condition"}, "max": {
"$ref": "#/$defs/count"}, "every": {"$ref": "#/$defs/duration"}}}, "retry": {"type": "object",
"additionalProperties": false, "properties": {"max_attempts": {"$ref": "#/$defs/tries"},
"max_losses": {"$ref": "#/$defs/tries"}, "backoff": {"$ref": "#/$defs/backoff"}}}, "backoff": {
"type": ["array", "object"], "additionalProperties": false, "properties": {"base": {"type":
"number"}, "factor": {"type": "number"}, "max": {"type": "number"}}, "allOf": [{"minItems": 1,
"items": {"$ref": "#/$defs/wait"}, "required": ["base"], "additionalProperties": {"$ref":
"#/$defs/wait"}, "x-check": "backoff", "x-says": "is not a backoff", "x-hint":
"write seconds such as [1, 5, 30], or {\"base\": 1, \"factor\": 2, \"max\": 600}"}]}, "workflow": {
"type": "object", "required": ["name", "steps"], "additionalProperties": false, "properties": {
"name": {"$ref": "#/$defs/name"}, "steps": {"type": "array", "items": {"$ref": "#/$defs/any_step"}},
"inputs": {"$ref": "#/$defs/inputs_schema"}, "outputs": {"$ref": "#/$defs/exports"}, "deadline": {
"$ref": "#/$defs/duration"}, "expect": {"$ref": "#/$defs/expect"}, "display_name": {"type":
"string"}, "mode": {"type": "string"}, "requires_gpu": {"type": "boolean"}, "$schema": {"type":
"string"}}}, "step": {"type": "object", "required": ["id"], "properties": {"id": {"$ref":
"#/$defs/id"}, "kind": {"type": "string", "enum": ["node", "pipeline", "workflow", "input"],
"x-says": "must be \"node\", \"pipeline\", \"workflow\" or \"input\"", "x-hint":
"in a step it says what the step is: leave it out for a node"}, "depends_on": {"type": "array",
"items": {"type": "string"}}, "skip_if": {"$ref": "#/$defs/condition"}, "delay": {"$ref":
"#/$defs/delay"}, "display_name": {"type": "string"}}, "allOf": [{"required": ["kind"], "x-at":
"kind", "x-says": "is missing", "x-hint":
"write \"node\", \"pipeline\", \"workflow\" or \"input\"; a \"node\" or \"command\" needs none"}]},
"workflow_step": {"required": ["workflow"], "properties": {"workflow": {"type": "string"}, "inputs":
{"$ref": "#/$defs/inputs"}, "map": {"$ref": "#/$defs/list"}, "max_parallel": {"$ref":
"#/$defs/count"}, "min_success": {"type": ["integer", "string"], "minimum": 0, "maximum": 1000000,
"pattern": "^(100|[1-9]?[0-9])%$", "x-says": "must be a number of elements or a percentage",
"x-hint": "write it like 3 or \"90%\""}, "stop_when_reached": {"type": "boolean"}, "repeat": {
"$ref": "#/$defs/repeat"}, "on_failure": {"type": "string", "enum": ["fail", "continue", "ask"],
"x-says": "must be \"fail\", \"continue\" or \"ask\""}, "run_if": {"type": "string", "const":
"all_done", "x-says": "must be \"all_done\"", "x-hint":
"omit it to run only when the dependencies are satisfied"}, "compensates": {"type": "array",
"items": {"type": "string"}}, "retry": {"$ref": "#/$defs/retry"}, "timeout": {"$ref":
"#/$defs/duration"}, "limit_by": {"type": "string", "x-check": "limit"}}, "allOf": [{"$ref":
"#/$defs/node_rules"}]}, "workflow_node": {"type": "object", "required": ["id", "workflow"],
"allOf": [{"$ref": "#/$defs/workflow_step"}, {"$ref": "#/$defs/not_on_a_run"}], "properties": {"id":
{"$ref": "#/$defs/id"}, "kind": {"type": "string"}, "depends_on": {"type": "array", "items": {
"type": "string"}}, "skip_if": {"$ref": "#/$defs/condition"}, "delay": {"$ref": "#/$defs/delay"},
"display_name": {"type": "string"}, "outputs": {"type": ["array", "object"]}},
"unevaluatedProperties": false}, "pipeline_step": {"properties": {"pipeline": {"type": "string"},
"inputs": {"$ref": "#/$defs/inputs"}}, "if": {"properties": {"kind": {"const": "pipeline"}},
"required": ["kind"]}, "then": {"required": ["pipeline"]}}, "input_step": {"properties": {"signal":
{"type": ["string", "array"], "allOf": [{"minLength": 1, "minItems": 1, "x-says":
"must not be empty"}, {"items": {"type": ["string", "number", "object"]}, "x-says":
"has a part that is not a text, a number or an expression"}, {"$ref": "#/$defs/value"}]}, "widget":
{"type": "string", "allOf": [{"minLength": 1, "x-says": "must not be empty"}, {"not": {"const":
"on_failure"}, "x-says": "is reserved for failed nodes", "x-hint": "choose another widget"}, {"not":
{"const": "multiple"}, "x-says": "\"multiple\" is a key, not a widget", "x-hint":
"write \"widget\": \"choose_one\", \"multiple\": true"}]}, "prompt": {"allOf": [{"$ref":
"#/$defs/value"}], "type": ["string", "object"]}, "target": {"type": "string", "allOf": [{"pattern":
"^[A-Za-z_][A-Za-z0-9_]*$", "x-says": "must be a name: letters, digits and _", "x-hint":
"references read the answer as <step>.<target>"}, {"not": {"const": "files"}, "x-says":
"\"files\" is reserved", "x-hint": "choose another target"}]}, "source": {"$ref": "#/$defs/value"},
"show": {"type": ["string", "array", "object"], "if": {"type": "array"}, "then": {"allOf": [{
"maxItems": 100, "x-says": "has more than 100 files"}, {"items": {"$ref": "#/$defs/file"}}]},
"else": {"$ref": "#/$defs/file"}, "allOf": [{"$ref": "#/$defs/value"}]}, "schema": {"$ref":
"#/$defs/schema"}, "expires": {"$ref": "#/$defs/duration"}, "default": {}}, "allOf": [{"anyOf": [{
"required": ["widget"]}, {"required": ["signal"]}], "x-at": "widget", "x-says": "is missing",
"x-hint": "ask a person with a \"widget\", wait for a \"signal\", or both"}, {"dependentRequired": {
"default": ["expires"]}, "x-at": "default", "x-says": "needs \"expires\"", "x-hint":
"set \"expires\" to the time after which the default is taken as the answer"}, {"if": {"properties":
{"widget": {"enum": ["choose_one", "turnout"]}}, "required": ["widget"]}, "then": {"$ref":
"#/$defs/widget_choose_one"}}, {"if": {"properties": {"widget": {"const": "text"}}, "required": [
"widget"]}, "then": {"$ref": "#/$defs/widget_text"}}, {"if": {"properties": {"widget": {"const":
"number"}}, "required": ["widget"]}, "then": {"$ref": "#/$defs/widget_number"}}, {"if": {
"properties": {"widget": {"const": "file"}}, "required": ["widget"]}, "then": {"$ref":
"#/$defs/widget_file"}}, {"if": {"required": ["widget"], "properties": {"widget": {"not": {"$ref":
"#/$defs/widget"}}}}, "then": {"$ref": "#/$defs/widget_of_a_front_end"}}], "x-last": "answer"},
"widget_choose_one": {"properties": {"options": {"$ref": "#/$defs/options", "items": {"$ref":
"#/$defs/option"}}, "multiple": {"type": "boolean"}}, "allOf": [{"anyOf": [{"required": [
"options"]}, {"required": ["source"]}], "x-at": "options", "x-says": "is missing", "x-hint":
"list the \"options\", or say in \"source\" where they come from"}]}, "widget_text": {"properties":
{"min_length": {"type": "integer", "minimum": 0, "x-says": "must not be negative"}, "max_length": {
"type": "integer"}, "pattern": {"type": "string", "x-check": "pattern", "x-says":
"is not a regular expression"}, "multiline": {"type": "boolean"}}, "allOf": [{"x-check": [
"min_length", "max_length"], "x-at": "min_length", "x-says": "is larger than max_length"}]},
"widget_number": {"properties": {"min": {"type": "number"}, "max": {"type": "number"}, "integer": {
"type": "boolean"}, "step": {"type": "number", "exclusiveMinimum": 0, "x-says": "must be positive"},
"unit": {"type": "string"}}, "allOf": [{"x-check": ["min", "max"], "x-at": "min", "x-says":
"is larger than max"}]}, "widget_file": {"properties": {"multiple": {"type": "boolean"}, "accept": {
"type": ["string", "array"], "allOf": [{"$ref": "#/$defs/value"}]}, "library": {"$ref":
"#/$defs/value"}}}, "widget_of_a_front_end": {"properties": {"options": {"$ref": "#/$defs/options"},
"multiple": {"type": "boolean"}, "accept": {"type": ["string", "array"], "allOf": [{"$ref":
"#/$defs/value"}]}}, "patternProperties": {"^(?!\\$|(inputs|pipeline|schema|default)$)": {"$ref":
"#/$defs/value"}}}, "option": {"properties": {"id": {}, "value": {}, "label": {"anyOf": [{"type":
"string", "maxLength": 200}, {"$ref": "#/$defs/expression"}], "x-says":
"must be a text of at most 200 characters"}, "help": {"anyOf": [{"type": "string", "maxLength":
2000}, {"$ref": "#/$defs/expression"}], "x-says": "must be a text of at most 2000 characters"},
"picture": {"$ref": "#/$defs/file"}, "score": {}}}, "file": {"anyOf": [{"type": "string",
"minLength": 1, "maxLength": 4096}, {"$ref": "#/$defs/expression"}, {"type": "object", "required": [
"rel_path"], "properties": {"rel_path": {"type": "string", "minLength": 1, "maxLength": 4096}}}],
"x-says": "must be a file", "x-hint":
"give its path, an entry of {\"$from\": \"<node>.files\"}, or an expression"}, "inputs": {"type": [
"object", "array"], "allOf": [{"x-check": "names"}, {"propertyNames": {"pattern": "^(?!\\$)"},
"x-says": "must not be an expression: give each input by name", "x-hint":
"write {\"<name>\": {\"$from\": ...}}"}], "items": {"allOf": [{"anyOf": [{"type": "object"}],
"x-says": "must be an object with \"name\" and \"from\""}, {"$ref": "#/$defs/input"}]}, "if": {
"propertyNames": {"pattern": "^(?!\\$)"}}, "then": {"additionalProperties": {"$ref":
"#/$defs/value"}}}, "input": {"required": ["name", "from"], "additionalProperties": false,
"properties": {"name": {"type": "string"}, "from": {"type": "string", "pattern":
"^[^.]+(\\.[^.]+)*$", "x-check": "path"}}}, "delay": {"allOf": [{"anyOf": [{"$ref":
"#/$defs/duration"}, {"$ref": "#/$defs/expression"}], "x-says":
"must be a duration, or an expression that gives a duration or a time", "x-hint":
"write it like \"10 min\", as a number of seconds, or as {\"$from\": \"<node>.<key>\"}"}, {"$ref":
"#/$defs/value"}]}, "condition": {"allOf": [{"anyOf": [{"type": "boolean"}, {"$ref":
"#/$defs/expression"}], "x-says": "must be true, false or an expression", "x-hint":
"write {\"$from\": \"<node>.<key>\", \"$eq\": <value>}"}, {"$ref": "#/$defs/value"}]}, "list": {
"type": ["array", "object"], "allOf": [{"anyOf": [{"type": "array"}, {"$ref":
"#/$defs/expression"}], "x-says": "is neither a list nor an expression", "x-hint":
"write {\"$from\": \"<node>.<key>\"}, or a list"}, {"$ref": "#/$defs/value"}]}, "duration": {
"anyOf": [{"type": "string", "minLength": 1}, {"type": "number", "minimum": 1e-06, "maximum":
31622400}], "x-check": "duration", "x-says": "must be a duration of at most a year", "x-hint":
"write it like \"10 min\", or as a number of seconds"}, "value": {"if": {"propertyNames": {
"pattern": "^(?!\\$)"}}, "then": {"additionalProperties": {"$ref": "#/$defs/value"}, "items": {
"$ref": "#/$defs/value"}}, "else": {"$ref": "#/$defs/expression"}, "x-check": "value"}, "data": {
"propertyNames": {"pattern": "^(?!\\$)"}, "additionalProperties": {"$ref": "#/$defs/data"}, "items":
{"$ref": "#/$defs/data"}}, "expression": {"type": "object", "additionalProperties": false,
"minProperties": 1, "properties": {"$from": {"type": ["string", "array"], "pattern":
"^[^.]+(\\.[^.]+)*$", "minItems": 1, "prefixItems": [{"type": "string"}], "items": {"type": [
"string", "integer"]}}, "$value": {}, "$coalesce": {"type": "array", "items": {"$ref":
"#/$defs/value"}}, "$default": {"$ref": "#/$defs/value"}, "$filter": {"type": "object",
"propertyNames": {"pattern": "^(eq|matches):[\\s\\S]|[\\s\\S]:(eq|matches)$"}, "patternProperties":
{"^matches:[\\s\\S]|^(?!(eq|matches):[\\s\\S])[\\s\\S]+:matches$": {"type": ["string", "object"]}},
"allOf": [{"additionalProperties": {"$ref": "#/$defs/value"}}]}, "$eq": {"$ref": "#/$defs/value"},
"$ne": {"$ref": "#/$defs/value"}}, "oneOf": [{"required": ["$from"]}, {"required": ["$coalesce"]}, {
"required": ["$value"]}], "dependentSchemas": {"$value": {"maxProperties": 1}, "$coalesce": {
"properties": {"$filter": false, "$eq": false, "$ne": false}}, "$eq": {"properties": {"$ne":
false}}}, "x-check": "expression"}, "schema": {"type": "object", "additionalProperties": false,
"properties": {"type": {"type": ["string", "array"], "anyOf": [{"enum": ["string", "number",
"integer", "boolean", "object", "array", "null"]}, {"type": "array", "minItems": 1, "items": {
"enum": ["string", "number", "integer", "boolean", "object", "array", "null"]}}], "x-says":
"must be string, number, integer, boolean, object, array or null, or a list of these"}, "enum": {
"type": "array", "minItems": 1, "x-says": "must list at least one value"}, "default": {},
"properties": {"type": "object", "additionalProperties": {"$ref": "#/$defs/schema"}},
"properties_order": {"type": "array", "items": {"type": "string"}}, "required": {"type": "array",
"items": {"type": "string"}}, "additionalProperties": {"type": "boolean"}, "items": {"$ref":
"#/$defs/schema"}, "minimum": {"type": "number"}, "maximum": {"type": "number"}, "minLength": {
"type": "integer", "minimum": 0, "maximum": 1000000000, "x-says": "must be 0 to 1000000000"},
"maxLength": {"type": "integer", "minimum": 0, "maximum": 1000000000, "x-says":
"must be 0 to 1000000000"}, "pattern": {"type": "string", "x-check": "pattern", "x-says":
"is not a regular expression"}, "title": {"type": "string"}, "description": {"type": "string"},
"examples": {}}, "x-last": "default", "allOf": [{"x-check": "members"}, {"x-check": ["minLength",
"maxLength"], "x-at": "minLength", "x-says": "is larger than maxLength"}, {"x-check": ["minimum",
"maximum"], "x-at": "minimum", "x-says": "is larger than maximum"}]}, "inputs_schema": {"allOf": [{
"$ref": "#/$defs/schema"}, {"properties": {"type": {"const": "object"}}, "x-at": "type", "x-says":
"must be \"object\""}]}, "name": {"type": "string", "pattern": "^[a-z][a-z0-9_.-]{0,62}$", "x-says":
"\"%s\" is not a valid name", "x-hint":
"use 1 to 63 lower case letters, digits, dots, dashes and _, starting with a letter"}, "id": {
"type": "string", "allOf": [{"pattern": "^[a-z][a-z0-9_]{0,62}$", "x-says":
"\"%s\" is not a valid id", "x-hint":
"use 1 to 63 lower case letters, digits and _, starting with a letter"}, {"not": {"enum": [
"pipeline", "item", "index", "files", "run"]}, "x-says": "\"%s\" is reserved", "x-hint":
"choose another id"}]}, "exports": {"type": "object", "allOf": [{"propertyNames": {"pattern":
"^(?!\\$)"}, "x-says": "must not be an expression: give each output by name", "x-hint":
"write {\"<name>\": {\"$from\": ...}}"}, {"properties": {"files": {"$ref": "#/$defs/data"}}, "x-at":
"files", "x-says": "\"files\" is reserved", "x-hint": "choose another name for this export"}], "if":
{"propertyNames": {"pattern": "^(?!\\$)"}}, "then": {"additionalProperties": {"$ref":
"#/$defs/value"}}}, "count": {"type": "integer", "minimum": 1, "maximum": 1000000, "x-says":
"must be 1 to 1000000"}, "node_rules": {"allOf": [{"dependentRequired": {"max_parallel": ["map"]},
"x-at": "max_parallel", "x-says": "needs a \"map\"", "x-hint":
"set \"map\" to the list that the node runs over"}, {"dependentRequired": {"min_success": ["map"]},
"x-at": "min_success", "x-says": "needs a \"map\"", "x-hint":
"set \"map\" to the list that the node runs over"}, {"dependentRequired": {"stop_when_reached": [
"map"]}, "x-at": "stop_when_reached", "x-says": "needs a \"map\"", "x-hint":
"set \"map\" to the list that the node runs over"}, {"if": {"required": ["stop_when_reached",
"map"], "properties": {"stop_when_reached": {"const": true}}}, "then": {"required": [
"min_success"]}, "x-at": "stop_when_reached", "x-says": "needs \"min_success\"", "x-hint":
"set \"min_success\" to the number of elements that are enough"}, {"if": {"required": [
"stop_when_reached"], "properties": {"stop_when_reached": {"const": true}}}, "then": {"properties":
{"min_success": {"not": {"enum": [0, "0%"]}}}}, "x-at": "min_success", "x-says":
"must be at least 1 with \"stop_when_reached\""}, {"x-check": "reachable", "x-at": "min_success",
"x-says": "is more than the number of elements in \"map\""}, {"not": {"required": ["repeat",
"map"]}, "x-at": "repeat", "x-says": "cannot be combined with \"map\"", "x-hint":
"repeat a step that runs a workflow, and map in that workflow"}, {"not": {"required": [
"compensates", "run_if"]}, "x-at": "compensates", "x-says": "cannot be combined with \"run_if\"",
"x-hint": "it runs only if the run fails or is cancelled"}, {"not": {"required": ["compensates",
"depends_on"]}, "x-at": "compensates", "x-says": "cannot be combined with \"depends_on\"", "x-hint":
"it waits for what it compensates"}, {"properties": {"compensates": {"minItems": 1}}, "x-at":
"compensates", "x-says": "names nothing", "x-hint": "such as [\"charge\"]"}]}, "tries": {"type":
"integer", "minimum": 1, "maximum": 10000, "x-says": "must be 1 to 10000"}, "wait": {"type":
"number", "minimum": 0, "maximum": 31536000}, "of_a_node": {"not": {}, "x-says":
"belongs to a node of a pipeline", "x-hint":
"move it to that node in the definition of the pipeline"}, "not_on_a_run": {"properties": {
"at_most_once": {"$ref": "#/$defs/of_a_node"}}}, "not_on_a_step": {"properties": {"map": {"$ref":
"#/$defs/of_a_node"}, "max_parallel": {"$ref": "#/$defs/of_a_node"}, "min_success": {"$ref":
"#/$defs/of_a_node"}, "stop_when_reached": {"$ref": "#/$defs/of_a_node"}, "repeat": {"$ref":
"#/$defs/of_a_node"}, "run_if": {"$ref": "#/$defs/of_a_node"}, "compensates": {"$ref":
"#/$defs/of_a_node"}, "on_failure": {"$ref": "#/$defs/of_a_node"}, "limit_by": {"$ref":
"#/$defs/of_a_node"}, "at_most_once": {"$ref": "#/$defs/of_a_node"}}}, "any_step": {"type":
"object", "if": {"properties": {"kind": {"const": "input"}}, "required": ["kind"]}, "then": {
"allOf": [{"$ref": "#/$defs/step"}, {"$ref": "#/$defs/input_step"}, {"$ref":
"#/$defs/not_on_a_step"}], "unevaluatedProperties": false}, "else": {"if": {"properties": {"kind": {
"const": "workflow"}}, "required": ["kind"]}, "then": {"allOf": [{"$ref": "#/$defs/step"}, {"$ref":
"#/$defs/workflow_step"}, {"$ref": "#/$defs/not_on_a_run"}], "unevaluatedProperties": false},
"else": {"if": {"anyOf": [{"properties": {"kind": {"const": "node"}}, "required": ["kind"]}, {"not":
{"required": ["kind"]}, "anyOf": [{"required": ["node"]}, {"required": ["command"]}]}]}, "then": {
"$ref": "#/$defs/node"}, "else": {"allOf": [{"$ref": "#/$defs/step"}, {"$ref":
"#/$defs/pipeline_step"}, {"$ref": "#/$defs/not_on_a_step"}], "unevaluatedProperties": false}}}},
"widget": {"enum": ["choose_one", "turnout", "confirm", "text", "number", "file", "json"]},
"options": {"type": ["array", "object"], "allOf": [{"minItems": 1, "x-says":
"must have at least one option"}, {"anyOf": [{"type": "array"}, {"$ref": "#/$defs/expression"}],
"x-says": "is neither a list nor an expression", "x-hint":
"write {\"$from\": \"<step>.<key>\"}, or a list"}, {"$ref": "#/$defs/value"}]}}}$json$;
