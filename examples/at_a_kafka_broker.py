"""At a Kafka broker, killed in the middle.

`onkel live` stands between two topics of a broker. Rows come on one, and each row's prediction
goes to the other. Here the process is killed without warning and started again, and each row still
has one answer.
"""

# %%
# A broker of your own listens somewhere already. This one comes from a package of Python
# (`noida-db`) and speaks Kafka's protocol.

import json
import socket
import subprocess
import sys
import threading
import time
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
where = {"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0}
program = str(files("noida_db") / "noida-db")
broker = subprocess.Popen(
    [program, "start", "--only", "kafka", "--kafka-port", str(port), "--data-dir", "broker"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)  # fmt: skip
topics = [NewTopic("orders", 1, 1), NewTopic("prices", 1, 1)]
admin = AdminClient(where)
for made in admin.create_topics(topics).values():
    made.result(20)

# %%
# Three hundred orders come each second. Each has its price, which is learned after its prediction.

rng = np.random.default_rng(0)
n, pace = 4500, 300
size, town = rng.uniform(20, 140, n), rng.choice(["Ulm", "Bonn", "Trier"], n)
base = {"Ulm": 3.0, "Bonn": 4.0, "Trier": 2.2}
price = size * np.array([base[t] for t in town]) + rng.normal(0, 8, n)
begun = time.perf_counter()


def send():
    producer = Producer(where)
    for t in range(n):
        time.sleep(max(0.0, begun + t / pace - time.perf_counter()))
        order = {"id": t, "size": round(size[t], 1), "town": str(town[t]), "price": price[t]}
        producer.produce("orders", json.dumps(order))
        producer.poll(0)
    producer.flush()


# %%
# The process starts, answers, and is killed by a signal that it cannot catch. Orders go on coming.
# It starts again.

command = [sys.executable, "-m", "onkel", "live", "prices.onkel",
           f"kafka://127.0.0.1:{port}/orders", "--out", "prices", "--task", "regression",
           "--target", "price", "--set", "speed=fast", "--set", "n_components=60",
           "--metrics-every", "0"]  # fmt: skip
reader = Consumer(where | {"group.id": "reader", "auto.offset.reset": "earliest"})
reader.subscribe(["prices"])
answers, seconds = [], []


def read(until):
    while len(answers) < until:
        for message in reader.consume(500, 0.1):
            answers.append(json.loads(message.value()))
            seconds.append(time.perf_counter() - begun)


sending = threading.Thread(target=send)
sending.start()
live = subprocess.Popen(command, stderr=subprocess.DEVNULL)
read(until=1500)
live.kill()
live.wait()
killed = time.perf_counter() - begun
live = subprocess.Popen(command, stderr=subprocess.DEVNULL)
read(until=n)
live.terminate()
live.wait()
sending.join()
reader.close()
broker.terminate()

ids = [answer["id"] for answer in answers]
print(f"{n} orders, {len(ids)} answers, {len(set(ids))} orders answered")

# %%
# A journal beside the model made this so. What the model is about to learn is on disk first, with
# its place in the topic. The second process learned the rows after the last save again from there,
# looked up which answers the topic has, and sent only the others.

last = [abs(price[a["id"]] - a["prediction"]) for a in answers[-1000:]]
print(f"median error of the last 1000 answers: {np.median(last):.1f}")

plt.plot([0, n / pace], [0, n], color="#6b7785", linestyle="--", linewidth=1, label="orders sent")
plt.step(seconds, np.arange(1, len(seconds) + 1), where="post", label="answers")
plt.axvline(killed, color="#c0392b", linewidth=1)
plt.text(killed, 0.02 * n, " killed, started again", color="#c0392b")
plt.xlabel("seconds")
plt.ylabel("messages in the topics")
plt.title("A process dies; each order has one answer")
plt.legend(frameon=False)
plt.show()
