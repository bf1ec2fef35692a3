package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Body runs a job. Inputs that are numbers are json.Number, so that large ones stay exact.
type Body func(ctx context.Context, job *Job) (any, error)

// A body that fails returns Temporary to be tried again later, Permanent if no other try can help.
type Temporary struct{ error }
type Permanent struct{ error }

// Why a body was told to stop.
var (
	errCancelled = errors.New("cancelled while it ran")
	errLost      = errors.New("another worker has the job")
	errReleased  = errors.New("the worker was stopped")
	errOverdue   = errors.New("it ran over its timeout")
)

// Job is a claimed job, from its claim until its body has ended.
type Job struct {
	ID      int64
	Token   string
	Task    string
	Attempt int
	Inputs  map[string]any
	Timeout time.Duration
	// What an earlier attempt saved; nil: nothing.
	Checkpoint map[string]any

	worker *Worker
	cancel context.CancelFunc

	mutex   sync.Mutex // for all below
	why     error
	lost    chan struct{} // closed when nothing is to be reported any more
	printed int64
	tail    []byte
}

func newJob(worker *Worker, inputs, checkpoint string) (*Job, error) {
	job := &Job{worker: worker, lost: make(chan struct{})}
	if err := decode(checkpoint, &job.Checkpoint); err != nil {
		return nil, err
	}
	return job, decode(inputs, &job.Inputs)
}

func decode(text string, value any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(value)
}

// Printf adds to the log of the job.
func (job *Job) Printf(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	job.mutex.Lock()
	defer job.mutex.Unlock()
	job.printed += int64(len(text))
	job.tail = append(job.tail, text...)
	if over := len(job.tail) - job.worker.settings.MaxLogBytes; over > 0 {
		job.tail = append([]byte{}, job.tail[over:]...)
	}
}

// Log returns how many bytes the body has printed, and the end of them as text that can be stored.
func (job *Job) Log() (int64, string) {
	job.mutex.Lock()
	defer job.mutex.Unlock()
	return job.printed, storable(string(job.tail))
}

// Progress says how far the body is, from 0 to 1.
func (job *Job) Progress(fraction float64, message string) {
	var verdict string
	err := job.worker.pool.QueryRow(context.Background(), "select qwf.progress($1, $2, $3::real, $4)",
		job.ID, job.Token, fraction, message).Scan(&verdict)
	if err == nil {
		job.obey(verdict)
	}
}

// Save keeps a checkpoint, which the next attempt gets as job.Checkpoint. It returns when that has committed.
func (job *Job) Save(checkpoint map[string]any) error {
	text, err := json.Marshal(checkpoint)
	if err != nil {
		return err
	}
	var verdict string
	err = job.worker.pool.QueryRow(context.Background(), "select qwf.progress($1, $2, checkpoint => $3::text::jsonb)",
		job.ID, job.Token, string(text)).Scan(&verdict)
	if err == nil {
		job.obey(verdict)
	}
	return err
}

func (job *Job) obey(verdict string) {
	switch verdict {
	case "cancel":
		job.stop(errCancelled)
	case "lost":
		job.stop(errLost)
	}
}

// stop tells the body to end. The first reason counts, unless the job is lost.
func (job *Job) stop(why error) {
	job.mutex.Lock()
	defer job.mutex.Unlock()
	if why == errLost && job.why != errLost {
		close(job.lost)
	}
	if job.why == nil || why == errLost {
		job.why = why
	}
	job.cancel()
}

func (job *Job) stopped() error {
	job.mutex.Lock()
	defer job.mutex.Unlock()
	return job.why
}

// Report is what the database is told about an attempt.
type Report struct {
	JobID   int64          `json:"job_id"`
	Token   string         `json:"token"`
	Outcome string         `json:"outcome"`
	Output  any            `json:"output,omitempty"`
	Error   string         `json:"error,omitempty"`
	Detail  map[string]any `json:"detail"`
}

// report says how the attempt ended.
func (job *Job) report(output any, err error) Report {
	_, tail := job.Log()
	report := Report{JobID: job.ID, Token: job.Token, Detail: map[string]any{"log_tail": tail}}
	why := job.stopped()
	var temporary Temporary
	var permanent Permanent
	switch {
	case err == nil:
		report.Outcome, report.Output = "completed", output
		return report
	case why == errCancelled:
		report.Outcome = "cancelled"
	case why == errReleased:
		report.Outcome = "released"
	case why == errOverdue:
		report.Outcome, report.Detail["reason"], err = "lost", "timeout", why
	case errors.As(err, &temporary):
		report.Outcome = "tempfail"
	case errors.As(err, &permanent):
		report.Outcome = "fatal"
	default:
		report.Outcome = "error"
	}
	report.Error = storable(err.Error())
	return report
}

// storable leaves out what Postgres cannot store in a text.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// asJSON encodes a value with its letters as they are.
func asJSON(value any) (string, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return buffer.String(), err
}
