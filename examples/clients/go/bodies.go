package main

import (
	"context"
	"strings"
)

// The bodies it can run: task name -> function of the inputs, which returns the output. A body must be
// safe to run twice, and end when ctx is done: nothing can kill a goroutine.
var bodies = map[string]Body{
	"hello": func(_ context.Context, job *Job) (any, error) {
		return map[string]any{"text": "hello " + job.Inputs["who"].(string)}, nil
	},
	"shout": func(_ context.Context, job *Job) (any, error) {
		job.Printf("shouting\n")
		job.Progress(0.5, "halfway")
		return map[string]any{"text": strings.ToUpper(job.Inputs["text"].(string))}, nil
	},
}
