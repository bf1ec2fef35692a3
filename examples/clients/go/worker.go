// A qwf worker in Go:  worker QUEUE [SLOTS]
// Needs: go get github.com/jackc/pgx/v4. The PG* variables say where the database is. If they lead
// through a transaction pooler, QWF_LISTEN_DSN is an address without one, for LISTEN.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

// Commits without waiting for the disk: if a crash loses a claim or a heartbeat, the lease just lapses.
const noWait = "set_config('synchronous_commit', 'off', true)"

// The classes of errors that say that a report cannot be stored: docs/errors.md.
var final = regexp.MustCompile(`^(22|23|54|QW)`)

// Settings of the queue, in seconds and bytes.
type Settings struct {
	Poll, Tick, Lease, Heartbeat float64
	StopGrace                    float64 `json:"stop_grace"`
	CancelGrace                  float64 `json:"cancel_grace"`
	MaxLogBytes                  int     `json:"max_log_bytes"`
}

// A Bell wakes a loop: once, however often it rang before.
type Bell chan struct{}

func (bell Bell) Ring() {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// Worker serves one queue.
type Worker struct {
	pool        *pgxpool.Pool
	id, channel string
	queue       string
	slots       int
	settings    Settings
	news        Bell // there may be work, or a free slot
	alarm       Bell // a heartbeat is due
	followers   Bell // somebody follows a log
	mutex       sync.Mutex
	held        map[string]*Job // jobs to renew and report, by token
	busy        int             // slots with a body that has not ended
}

func main() {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig("") // reads the PG* variables
	check(err)
	config.ConnConfig.PreferSimpleProtocol = true // not every pooler keeps prepared statements
	pool, err := pgxpool.ConnectConfig(ctx, config)
	check(err)
	worker := &Worker{pool: pool, slots: 4, held: map[string]*Job{}, news: make(Bell, 1), alarm: make(Bell, 1), followers: make(Bell, 1)}
	worker.queue = os.Args[1]
	if len(os.Args) > 2 {
		worker.slots, err = strconv.Atoi(os.Args[2])
		check(err)
	}
	check(worker.register(ctx))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	beating, stopped := make(chan struct{}), make(chan struct{})
	go worker.listen()
	go worker.sendLogs()
	go worker.tick()
	go func() {
		worker.beat(beating)
		close(stopped)
	}()
	worker.work(signals)
	worker.drain(signals)
	close(beating)
	<-stopped                                                              // a heartbeat after deregistering would undo it
	_, err = pool.Exec(ctx, "select qwf.deregister_worker($1)", worker.id) // releases the jobs still held
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func seconds(number float64) time.Duration {
	return time.Duration(math.Min(number*float64(time.Second), math.MaxInt64/2))
}
func jitter(number float64) time.Duration { return seconds(number * (0.75 + rand.Float64()/2)) }

func (worker *Worker) register(ctx context.Context) error {
	var settings string
	row := worker.pool.QueryRow(ctx, "select qwf.agent_settings($1)::text", worker.queue)
	if err := row.Scan(&settings); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(settings), &worker.settings); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	tasks := []string{}
	for task := range bodies {
		tasks = append(tasks, task)
	}
	info, err := asJSON(map[string]any{"pid": os.Getpid(), "slots": worker.slots, "tasks": tasks})
	if err != nil {
		return err
	}
	return worker.pool.QueryRow(ctx, `select w, qwf.wake_channel(w)
		from qwf.register_worker($1, $2, $3::text::jsonb) w`, host, worker.queue, info).Scan(&worker.id, &worker.channel)
}

// work claims jobs until a signal comes.
func (worker *Worker) work(signals <-chan os.Signal) {
	ctx := context.Background()
	var asleepSince time.Time
	var rechecks []time.Duration
	for {
		count, free, err := 0, worker.free(), error(nil)
		if free > 0 {
			count, err = worker.claim(ctx, free)
			warn(err)
		}
		if count > 0 || free <= 0 {
			if !asleepSince.IsZero() {
				worker.exec("select from "+noWait+", qwf.wake($1)", worker.id) // notify others instead
			}
			asleepSince = time.Time{}
		} else if err == nil && time.Since(asleepSince) > 5*time.Second { // the database forgets a sleeper after 15 s
			if worker.exec("select from "+noWait+", qwf.sleep($1, $2)", worker.id, worker.queue) {
				if asleepSince.IsZero() { // work that came just before woke nobody
					rechecks = []time.Duration{0, 5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond}
				}
				asleepSince = time.Now()
			}
		}
		pause := jitter(worker.settings.Poll)
		if count > 0 {
			pause = 0
		} else if len(rechecks) > 0 {
			pause, rechecks = rechecks[0], rechecks[1:]
		}
		select {
		case <-signals:
			return
		case <-worker.news:
		case <-time.After(pause):
		}
	}
}

// drain lets the bodies finish for stop_grace; then, or at a second signal, their jobs are released.
func (worker *Worker) drain(signals <-chan os.Signal) {
	giveBack := time.After(seconds(worker.settings.StopGrace))
	last := time.After(seconds(worker.settings.StopGrace + worker.settings.CancelGrace + 10))
	for {
		jobs := worker.jobs()
		if len(jobs) == 0 {
			return
		}
		select {
		case <-worker.news:
			continue
		case <-last:
			return
		case <-signals:
		case <-giveBack:
		}
		for _, job := range jobs {
			job.stop(errReleased)
		}
	}
}

func (worker *Worker) free() int {
	worker.mutex.Lock()
	defer worker.mutex.Unlock()
	return worker.slots - worker.busy
}

func (worker *Worker) jobs() []*Job {
	worker.mutex.Lock()
	defer worker.mutex.Unlock()
	jobs := []*Job{}
	for _, job := range worker.held {
		jobs = append(jobs, job)
	}
	return jobs
}

func (worker *Worker) claim(ctx context.Context, most int) (int, error) {
	rows, err := worker.pool.Query(ctx, `select c.job_id, c.token::text, c.task, c.inputs::text, c.attempt,
		extract(epoch from c.timeout)::float8, coalesce(c.checkpoint::text, 'null') from `+noWait+`, qwf.claim($1, $2, $3) c`, worker.queue, worker.id, most)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	jobs := []*Job{}
	for rows.Next() {
		var id int64
		var token, task, inputs, checkpoint string
		var attempt int
		var timeout float64
		if err := rows.Scan(&id, &token, &task, &inputs, &attempt, &timeout, &checkpoint); err != nil {
			return 0, err
		}
		job, err := newJob(worker, inputs, checkpoint)
		if err != nil {
			return 0, err
		}
		job.ID, job.Token, job.Task, job.Attempt, job.Timeout = id, token, task, attempt, seconds(timeout)
		jobs = append(jobs, job)
	}
	if rows.Err() != nil {
		return 0, rows.Err() // the leases of what we may hold lapse
	}
	for _, job := range jobs {
		ctx, cancel := context.WithCancel(context.Background())
		job.cancel = cancel
		worker.mutex.Lock()
		worker.held[job.Token] = job
		worker.busy++
		worker.mutex.Unlock()
		go worker.run(ctx, job)
	}
	return len(jobs), nil
}

// run runs one attempt, from its claim until its body has ended.
func (worker *Worker) run(ctx context.Context, job *Job) {
	overdue := time.AfterFunc(job.Timeout, func() { job.stop(errOverdue) })
	var output any
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		output, err = call(ctx, job)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		select {
		case <-ended:
		case <-job.lost:
		case <-time.After(seconds(worker.settings.CancelGrace)):
		}
	}
	overdue.Stop()
	select {
	case <-ended:
		worker.deliver(job, job.report(output, err))
	default:
		worker.deliver(job, job.report(nil, errors.New("it did not stop")))
	}
	worker.mutex.Lock()
	delete(worker.held, job.Token)
	worker.mutex.Unlock()
	worker.news.Ring()
	<-ended // nothing can kill a goroutine: a body that did not stop keeps its slot
	job.cancel()
	worker.mutex.Lock()
	worker.busy--
	worker.mutex.Unlock()
	worker.news.Ring()
}

// call runs the body; if it panics, that is its error.
func call(ctx context.Context, job *Job) (output any, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			output, err = nil, fmt.Errorf("panic: %v", reason)
		}
	}()
	body, known := bodies[job.Task]
	if !known {
		return nil, Permanent{errors.New("this worker has no such task")}
	}
	return body(ctx, job)
}

// deliver repeats a report until it is answered, except after errors that say that it cannot be stored.
func (worker *Worker) deliver(job *Job, report Report) {
	ctx := context.Background()
	for job.stopped() != errLost {
		text, err := asJSON([]Report{report})
		if err == nil {
			var pending bool
			err = worker.pool.QueryRow(ctx, "select pending from qwf.finish_many($1::text::jsonb)", text).Scan(&pending)
			if err == nil { // ok, or lost: another worker has the job, and this attempt does not count
				if pending {
					worker.exec("select qwf.drain_outbox()")
				}
				return
			}
		}
		warn(err)
		var refused *pgconn.PgError
		switch {
		case text != "" && !(errors.As(err, &refused) && final.MatchString(refused.Code)):
			time.Sleep(time.Second) // such as no database
		case report.Outcome == "fatal":
			return // the lease lapses, and the job runs again
		default:
			report.Outcome, report.Output = "fatal", nil
			report.Error = storable("the report cannot be stored: " + err.Error())
		}
	}
}

// beat renews the leases until it is told to stop.
func (worker *Worker) beat(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-worker.alarm:
		case <-time.After(seconds(math.Min(worker.settings.Heartbeat, worker.settings.Lease/3))):
		}
		jobs, tokens := map[string]*Job{}, []string{}
		for _, job := range worker.jobs() {
			jobs[job.Token], tokens = job, append(tokens, job.Token)
		}
		rows, err := worker.pool.Query(context.Background(), `select h.token::text, h.verdict
			from `+noWait+`, qwf.heartbeat($1, $2::text[]::uuid[]) h`, worker.id, tokens)
		if err != nil {
			warn(err)
			continue
		}
		for rows.Next() {
			var token, verdict string
			if rows.Scan(&token, &verdict) == nil && jobs[token] != nil {
				jobs[token].obey(verdict)
			}
		}
		warn(rows.Err())
	}
}

func (worker *Worker) tick() {
	for {
		time.Sleep(jitter(worker.settings.Tick))
		worker.exec("select qwf.tick('0.7 s')")
	}
}

// sendLogs sends logs about once a second, for as long as somebody follows.
func (worker *Worker) sendLogs() {
	for range worker.followers {
		for worker.sendFollowed() {
			time.Sleep(time.Second)
		}
	}
}

func (worker *Worker) sendFollowed() bool {
	followed := false
	for _, job := range worker.jobs() {
		printed, tail := job.Log()
		var more bool
		err := worker.pool.QueryRow(context.Background(), `select qwf.report_log(j, $2, $3, $4)
			from qwf.followed_logs($5) j where j = $1`, job.ID, job.Token, printed, tail, worker.id).Scan(&more)
		followed = followed || err == nil && more
	}
	return followed
}

// listen takes notifications, on a connection of its own that is opened again when it ends.
func (worker *Worker) listen() {
	ctx := context.Background()
	unheard := time.AfterFunc(5*time.Second, func() { // a pooler takes a LISTEN without a word, and loses it
		log.Print("no notification arrives, so jobs start up to a second late: " +
			"set QWF_LISTEN_DSN to an address without a transaction pooler")
	})
	for {
		err := func() error {
			conn, err := pgx.Connect(ctx, os.Getenv("QWF_LISTEN_DSN"))
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			if _, err = conn.Exec(ctx, `listen "`+worker.channel+`"`); err != nil {
				return err
			}
			worker.news.Ring()
			worker.exec("select qwf.echo($1)", worker.id)
			for {
				news, err := conn.WaitForNotification(ctx)
				if err != nil {
					return err
				}
				switch news.Payload {
				case "echo":
					unheard.Stop()
				case "cancel":
					worker.alarm.Ring()
				case "log":
					worker.followers.Ring()
				default:
					worker.news.Ring()
				}
			}
		}()
		warn(err)
		time.Sleep(time.Second)
	}
}

// exec runs a statement whose answer does not matter; it returns false after an error.
func (worker *Worker) exec(text string, values ...any) bool {
	_, err := worker.pool.Exec(context.Background(), text, values...)
	warn(err)
	return err == nil
}

func warn(err error) {
	if err != nil {
		log.Print(err)
	}
}
