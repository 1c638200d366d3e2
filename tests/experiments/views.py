"""Asks a run's server for every view, first one by one, then by many clients at once, while matches are
played and learned from. Usage: views.py RUN. CLIENTS (32), SECONDS (20), PAUSE between two questions of a client
(0.25), PHASES (9: every other one, the first and the last without clients)."""
import heapq
import json
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import time

AGON = os.environ.get("AGON", "build/agon")
CLIENTS = int(os.environ.get("CLIENTS", "32"))
SECONDS = float(os.environ.get("SECONDS", "20"))
PAUSE = float(os.environ.get("PAUSE", "0.25"))
PHASES = int(os.environ.get("PHASES", "9"))
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
    """One connection. It is as cheap as it can be: its processor time is taken from the workers, too."""
    def __init__(self):
        card = json.load(open(run + "/serve.json"))
        self.pid = card["pid"]
        self.socket = socket.create_connection((card["host"], card["port"]), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host = "Host: %s:%d\r\n" % (card["host"], card["port"])
        self.rest = b""

    def send(self, view, fresh=False):
        sql = VIEWS.get(view)
        body = json.dumps({"sql": sql}) if sql else ""
        length = "Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body) if sql else ""
        length += "Cache-Control: no-cache\r\n" if fresh else ""
        self.socket.sendall(("%s %s HTTP/1.1\r\n%s%s\r\n%s" % (
            "POST" if sql else "GET", "/api/sql" if sql else view, self.host, length, body)).encode())

    def receive(self):
        """Takes what is there: (status, body) once the answer is complete, else None."""
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise SystemExit("the server has gone")
        self.rest += piece
        end = self.rest.find(b"\r\n\r\n")
        if end < 0:
            return None
        length = int(re.search(rb"(?i)content-length: *(\d+)", self.rest[:end]).group(1))
        if len(self.rest) < end + 4 + length:
            return None
        answer = int(self.rest[9:12]), self.rest[end + 4:end + 4 + length]
        self.rest = self.rest[end + 4 + length:]
        return answer

    def ask(self, view, fresh=False):
        self.send(view, fresh)
        while not (answer := self.receive()):
            pass
        if answer[0] != 200:
            raise SystemExit("%s: %d %s" % (view, answer[0], answer[1][:200]))
        return answer[1]


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
    """Processor time of making each view, on a quiet server; there are no workers' matches to write."""
    p, cost = serve("--set", "learner.steps=1"), {}
    try:
        client = Client()
        for view in VIEWS:
            client.ask(view, fresh=True)
            before = cpu_ms(client.pid)
            for _ in range(20):
                client.ask(view, fresh=True)
            cost[view] = (cpu_ms(client.pid) - before) / 20
    finally:
        stop_all([p])
    return cost


def written(client):
    """From memory alone: /api/overview would ask the database."""
    return json.loads(client.ask("/api/run"))["matches"]


def measure_writing(client, spend):
    """Matches a second, and the shares of a core that the server and this program used."""
    before, start = written(client), time.time()
    server, own = cpu_ms(client.pid), time.process_time()
    spend(SECONDS)
    took = time.time() - start
    return ((written(client) - before) / took, (cpu_ms(client.pid) - server) / took / 10,
            100 * (time.process_time() - own) / took)


class Crowd:
    """CLIENTS connections that ask for views at random, each with a pause between two questions."""
    def __init__(self, latencies, refusals):
        self.latencies, self.refusals = latencies, refusals
        self.asked = {}  # client: (view, since when)
        self.due = [(time.perf_counter() + random.uniform(0, PAUSE), i, Client()) for i in range(CLIENTS)]
        heapq.heapify(self.due)
        self.poll = selectors.DefaultSelector()
        for _, _, client in self.due:
            self.poll.register(client.socket, selectors.EVENT_READ, client)

    def turn(self, until):
        now = time.perf_counter()
        while self.due and self.due[0][0] <= now:
            client = heapq.heappop(self.due)[2]
            view = random.choice(list(VIEWS))
            self.asked[client] = view, time.perf_counter()
            client.send(view)
        wait = min(until, self.due[0][0] if self.due else until) - time.perf_counter()
        for key, _ in self.poll.select(max(0, wait)):
            client = key.data
            answer = client.receive()
            if not answer:
                continue
            now = time.perf_counter()
            view, since = self.asked.pop(client)
            if answer[0] not in (200, 503):
                raise SystemExit("%s: %d %s" % (view, answer[0], answer[1][:200]))
            self.latencies[view].append(1e3 * (now - since))
            self.refusals[view] += answer[0] == 503
            heapq.heappush(self.due, (now + random.uniform(0.5, 1.5) * PAUSE, id(client), client))

    def run(self, seconds):
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            self.turn(until)
        self.poll.close()


def measure(latencies, refusals, alone, watched):
    client = Client()
    first = written(client)
    if not wait_for(lambda: written(client) > first + 1000, 120):
        raise SystemExit("nothing is being played; see %s/logs" % run)
    for phase in range(PHASES):
        speed = measure_writing(client, Crowd(latencies, refusals).run if phase % 2 else time.sleep)
        (watched if phase % 2 else alone).append(speed)
        print("%s: %.0f matches/s written; the server used %.0f %% of a core, the clients %.0f %%" %
              (("with %d clients" % CLIENTS if phase % 2 else "without clients",) + speed), flush=True)


def slowed(alone, watched):
    """The mean slowing in percent, with its standard error: each phase beside those before and after it."""
    ratios = [100 * (1 - 2 * w[0] / (a[0] + b[0])) for a, w, b in zip(alone, watched, alone[1:])]
    mean = sum(ratios) / len(ratios)
    spread = (sum((r - mean) ** 2 for r in ratios) / max(1, len(ratios) - 1) / len(ratios)) ** 0.5
    return mean, spread


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
    print("%d answers; writing slowed by %.1f %% (standard error %.1f)" % ((n,) + slowed(alone, watched)))
    print("%-32s %8s %8s %8s %8s %8s" % ("view", "cpu ms", "median", "p99", "answers", "too busy"))
    for view in sorted(VIEWS, key=lambda v: -quantile(latencies[v], 0.99)):
        x = latencies[view]
        print("%-32s %8.2f %8.1f %8.1f %8d %8d" % (view, cost[view], quantile(x, 0.5),
                                                   quantile(x, 0.99), len(x), refusals[view]))
    everything = [ms for x in latencies.values() for ms in x]
    print("all views: p99 %.1f ms (target %d ms)" % (quantile(everything, 0.99), TARGET_MS))


main()
