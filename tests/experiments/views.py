"""Asks a run's server for every view, first one by one, then by many clients at once, while matches are
played and learned from. Usage: views.py RUN. CLIENTS (32), SECONDS (20), PAUSE between two questions of a client
(0.25), PHASES (4: half of them without clients)."""
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

AGON = os.environ.get("AGON", "build/agon")
CLIENTS = int(os.environ.get("CLIENTS", "32"))
SECONDS = float(os.environ.get("SECONDS", "20"))
PAUSE = float(os.environ.get("PAUSE", "0.25"))
PHASES = int(os.environ.get("PHASES", "4"))
TARGET_MS = 50
run = sys.argv[1]

VIEWS = {
    "/api/health": None, "/api/run": None, "/api/overview": None, "/metrics": None,
    "/api/matches": None, "/api/matches?game=tic_tac_toe": None, "/api/matches?policy=first": None,
    "/api/matches?policy=5": None, "/api/matches?kind=warmup": None, "/api/matches?reason=invalid": None,
    "/api/matches?reason=crash": None, "/api/matches?before=1000": None, "/api/matches/100000": None,
    "/api/forfeits": None, "/api/series": None, "/api/steps": None, "/api/steps?before=100": None,
    "/api/evals": None, "/api/policies": None, "/api/policies/100": None, "/api/ratings": None,
    "/api/payoff": None, "/api/payoff?policy=5": None, "/api/games": None, "/api/events": None,
    "sql": "SELECT kind, sum(matches) FROM tally GROUP BY kind",
}


def wait_for(condition, seconds):
    until = time.time() + seconds
    while time.time() < until and not condition():
        time.sleep(0.1)
    return condition()


class Client:
    def __init__(self):
        card = json.load(open(run + "/serve.json"))
        self.token, self.pid = card["token"], card["pid"]
        self.connection = http.client.HTTPConnection(card["host"], card["port"], timeout=60)

    def ask(self, view):
        """Milliseconds, and the answer; None where the server was too busy (503)."""
        sql = VIEWS.get(view)
        start = time.perf_counter()
        if sql:
            self.connection.request("POST", "/api/sql", json.dumps({"sql": sql}),
                                    {"Content-Type": "application/json"})
        else:
            self.connection.request("GET", view)
        answer = self.connection.getresponse()
        body = answer.read()
        ms = 1e3 * (time.perf_counter() - start)
        if answer.status == 503:
            return ms, None
        if answer.status != 200:
            raise SystemExit("%s: %d %s" % (view, answer.status, body[:200]))
        return ms, body


def cpu_ms(pid):
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            total += int(open("/proc/%d/task/%s/schedstat" % (pid, task)).read().split()[0])
        except OSError:
            pass
    return total / 1e6


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


def stop_all(processes):
    for p in processes:
        if p.poll() is None:
            p.send_signal(signal.SIGTERM)
            p.wait(60)


def start(program, *words):
    return subprocess.Popen([AGON, program, "--run", run, *words], stdout=subprocess.DEVNULL,
                            stderr=open(run + "/logs/views.log", "ab"))


def serve(*words):
    try:
        os.unlink(run + "/serve.json")
    except FileNotFoundError:
        pass
    p = start("serve", *words)
    if not wait_for(lambda: os.path.exists(run + "/serve.json"), 60):
        stop_all([p])
        raise SystemExit("the server did not start; see %s/logs" % run)
    time.sleep(2)
    return p


def costs():
    """Processor time of each view on a quiet server; there are no workers' matches to write."""
    p, cost = serve("--set", "learner.steps=1"), {}
    try:
        client = Client()
        for view in VIEWS:
            client.ask(view)
            before = cpu_ms(client.pid)
            for _ in range(20):
                client.ask(view)
            cost[view] = (cpu_ms(client.pid) - before) / 20
    finally:
        stop_all([p])
    return cost


def written(client):
    """From memory alone: /api/overview would ask the database."""
    return json.loads(client.ask("/api/run")[1])["matches"]


def measure_writing(client, seconds):
    before, start = written(client), time.time()
    time.sleep(seconds)
    return (written(client) - before) / (time.time() - start)


def crowd(latencies, refusals, lock, stop):
    client, views = Client(), list(VIEWS)
    while not stop.is_set():
        view = random.choice(views)
        ms, body = client.ask(view)
        with lock:
            latencies[view].append(ms)
            refusals[view] += body is None
        stop.wait(random.uniform(0.5, 1.5) * PAUSE)


def with_crowd(client, latencies, refusals):
    lock, stop = threading.Lock(), threading.Event()
    threads = [threading.Thread(target=crowd, args=(latencies, refusals, lock, stop)) for _ in range(CLIENTS)]
    cpu, start = cpu_ms(client.pid), time.time()
    for t in threads:
        t.start()
    rate = measure_writing(client, SECONDS)
    stop.set()
    for t in threads:
        t.join()
    return rate, (cpu_ms(client.pid) - cpu) / (time.time() - start) / 10


def measure(latencies, refusals, alone, watched):
    client = Client()
    first = written(client)
    if not wait_for(lambda: written(client) > first + 1000, 120):
        raise SystemExit("nothing is being played; see %s/logs" % run)
    for phase in range(PHASES):
        if phase % 2:
            rate, cpu = with_crowd(client, latencies, refusals)
            watched.append(rate)
            print("with %d clients: %.0f matches/s written; the server used %.0f %% of a core" %
                  (CLIENTS, rate, cpu), flush=True)
        else:
            alone.append(measure_writing(client, SECONDS))
            print("without clients: %.0f matches/s written" % alone[-1], flush=True)


def main():
    cost = costs()
    latencies, refusals, alone, watched = {v: [] for v in VIEWS}, dict.fromkeys(VIEWS, 0), [], []
    processes = [serve("--set", "learner.steps=1000000")]
    try:
        processes.append(start("learn"))
        measure(latencies, refusals, alone, watched)
    finally:
        stop_all(reversed(processes))
    n = sum(len(x) for x in latencies.values())
    print("%d answers; writing slowed by %.1f %%" % (
        n, 100 * (1 - sum(watched) / len(watched) / (sum(alone) / len(alone)))))
    print("%-32s %8s %8s %8s %8s %8s" % ("view", "cpu ms", "median", "p99", "answers", "too busy"))
    for view in sorted(VIEWS, key=lambda v: -quantile(latencies[v], 0.99)):
        x = latencies[view]
        print("%-32s %8.2f %8.1f %8.1f %8d %8d" % (view, cost[view], quantile(x, 0.5),
                                                   quantile(x, 0.99), len(x), refusals[view]))
    everything = [ms for x in latencies.values() for ms in x]
    print("all views: p99 %.1f ms (target %d ms)" % (quantile(everything, 0.99), TARGET_MS))


main()
