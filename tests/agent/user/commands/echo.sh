#!/bin/sh
# Shows what a command is given, in the file QWF_OUTPUT names.
cat > "$QWF_OUT/stdin.json"
cmp -s "$QWF_OUT/stdin.json" "$QWF_INPUTS" && same=true || same=false
printf '{"args": "%s", "cwd": "%s", "out": "%s", "same": %s, "job": "%s", "attempt": "%s", "secret": "%s"}' \
  "$*" "$(pwd)" "$QWF_OUT" "$same" "$QWF_JOB_ID" "$QWF_ATTEMPT" "$QWF_DSN" > "$QWF_OUTPUT"
echo '{"not": "this"}'
