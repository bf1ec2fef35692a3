#!/bin/sh
# Tracks three steps, the last without the end of its line, and two lines that are no JSON.
echo '{"loss": 0.5, "step": 1}' >> "$QWF_TRACK"
printf 'loss 0.4\n[4]\n' >> "$QWF_TRACK"
sleep 1.5
echo '{"loss": 0.3, "step": 2}' >> "$QWF_TRACK"
printf '{"loss": 0.2, "step": 3}' >> "$QWF_TRACK"
echo half > "$QWF_OUT/half.txt"
exit "$1"
