#!/bin/sh
# Counts its attempts in its checkpoint, and says what it found. $1: what it writes at the end.
found=$(cat "$QWF_CHECKPOINT" 2>/dev/null || echo none)
echo "found $found"
echo "{\"attempt\": $QWF_ATTEMPT}" > "$QWF_CHECKPOINT.new"
mv "$QWF_CHECKPOINT.new" "$QWF_CHECKPOINT"
if [ -n "$1" ]; then sleep 2.5; printf '%s' "$1" > "$QWF_CHECKPOINT"; fi
exit 1
