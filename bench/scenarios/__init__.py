"""The scenarios, one file each."""

from bench.scenarios.alerts import alerts
from bench.scenarios.calls import calls
from bench.scenarios.children import children
from bench.scenarios.dag import dag
from bench.scenarios.drain import drain
from bench.scenarios.enqueue import enqueue
from bench.scenarios.events import followed
from bench.scenarios.fleet import fleet
from bench.scenarios.hop import hop
from bench.scenarios.horizon import horizon
from bench.scenarios.kept import kept
from bench.scenarios.keys import keys
from bench.scenarios.latency import latency
from bench.scenarios.memory import memory
from bench.scenarios.pack import pack
from bench.scenarios.plain import plain
from bench.scenarios.queues import queues
from bench.scenarios.recovery import recovery
from bench.scenarios.retention import retention
from bench.scenarios.scale import scale
from bench.scenarios.serve import serve
from bench.scenarios.snapshot import snapshot
from bench.scenarios.throughput import throughput
from bench.scenarios.waiters import waiters
from bench.scenarios.waiting import waiting
from bench.scenarios.web import web

ALL = (
    enqueue, throughput, drain, latency, dag, scale, snapshot, fleet, recovery, memory,
    web, pack, serve, plain, hop, horizon, retention, queues, kept, keys, followed,
    waiters, calls, children, alerts, waiting,
)  # fmt: skip
