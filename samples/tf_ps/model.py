"""Trains a small network with parameter servers, as TensorFlow's ParameterServerStrategy does, in NumPy. What the process is
and where the others are stands in TF_CONFIG: parameter servers hold the weights, workers and the chief fetch them, compute
gradients on their own data and push them back, without waiting for each other. The chief ends the job."""
import argparse
import datetime
import hashlib
import hmac
import io
import json
import os
import socket
import struct
import threading
import time
import urllib.parse
import urllib.request

import numpy as np

CLASSES, PIXELS, HIDDEN = 10, 256, 64
SHAPES = [(PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
SIZE = sum(int(np.prod(s)) for s in SHAPES)

# A message is a word, a number and floats: pull weights, push a gradient (the number is the learning rate), set weights.
HEADER = struct.Struct("!4sdI")


def send(conn, word, number=0.0, floats=np.empty(0, np.float32)):
    conn.sendall(HEADER.pack(word, number, floats.size) + floats.astype("<f4").tobytes())


def receive(conn):
    def exactly(n):
        data = bytearray()
        while len(data) < n:
            piece = conn.recv(n - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    word, number, size = HEADER.unpack(exactly(HEADER.size))
    return word, number, np.frombuffer(exactly(4 * size), "<f4")


class Server:
    """A parameter server: one part of the weights, and how many gradients it has applied."""

    def __init__(self):
        self.weights, self.steps, self.lock = None, 0, threading.Lock()

    def answer(self, conn):
        try:
            while True:
                word, number, floats = receive(conn)
                with self.lock:
                    if word == b"init" and self.weights is None:
                        self.weights = floats.copy()
                    elif word == b"push":
                        self.weights -= np.float32(number) * floats
                        self.steps += 1
                    elif word == b"pull" and self.weights is None:
                        send(conn, b"wait")
                        continue
                    send(conn, b"have", self.steps, self.weights if word == b"pull" else np.empty(0))
        except (EOFError, ConnectionError):
            pass  # that trainer has ended
        finally:
            conn.close()

    def serve(self, port):
        with socket.create_server(("", port)) as listener:
            print(f"serving weights on port {port}", flush=True)
            while True:
                threading.Thread(target=self.answer, args=listener.accept()[:1], daemon=True).start()


class Weights:
    """The weights as a trainer sees them: each server has a part."""

    def __init__(self, addresses):
        self.bounds = np.linspace(0, SIZE, len(addresses) + 1).astype(int)
        self.conns = [self.connect(a) for a in addresses]

    @staticmethod
    def connect(address):
        host, port = address.rsplit(":", 1)
        deadline = time.monotonic() + 300
        while True:
            try:
                conn = socket.create_connection((host, int(port)), 10)
                conn.settimeout(300)
                return conn
            except OSError as e:  # its pod or its name may not be there yet
                if time.monotonic() > deadline:
                    raise SystemExit(f"parameter server {address}: {e}")
                time.sleep(0.1)

    def parts(self, flat):
        return [flat[a:b] for a, b in zip(self.bounds, self.bounds[1:])]

    def ask(self, word, number=0.0, flat=None):
        for conn, part in zip(self.conns, self.parts(flat) if flat is not None else [np.empty(0)] * len(self.conns)):
            send(conn, word, number, part)
        return [receive(conn) for conn in self.conns]

    def pull(self):
        """The weights, and how many gradients are in them."""
        while True:
            answers = self.ask(b"pull")
            if all(word == b"have" for word, _, _ in answers):
                return np.concatenate([part for _, _, part in answers]), int(answers[0][1])
            time.sleep(0.05)  # the chief has not set them yet


def unflatten(flat):
    tensors, at = [], 0
    for shape in SHAPES:
        n = int(np.prod(shape))
        tensors.append(flat[at:at + n].reshape(shape))
        at += n
    return tensors


def forward(flat, images):
    w1, b1, w2, b2 = unflatten(flat)
    hidden = np.maximum(images @ w1 + b1, 0)
    logits = hidden @ w2 + b2
    logits -= logits.max(1, keepdims=True)
    return hidden, logits - np.log(np.exp(logits).sum(1, keepdims=True))


def gradient(flat, images, labels):
    """The loss of a batch, and its gradient."""
    _, _, w2, _ = unflatten(flat)
    hidden, logs = forward(flat, images)
    rows = np.arange(len(labels))
    loss = -logs[rows, labels].mean()
    delta = np.exp(logs)
    delta[rows, labels] -= 1
    delta /= len(labels)
    back = (delta @ w2.T) * (hidden > 0)
    return loss, np.concatenate([t.ravel() for t in (images.T @ back, back.sum(0), hidden.T @ delta, delta.sum(0))])


def batch(size, random):
    """Noisy pictures of ten patterns, and which pattern each is."""
    patterns = np.random.default_rng(7).standard_normal((CLASSES, PIXELS)).astype(np.float32)
    labels = random.integers(CLASSES, size=size)
    return patterns[labels] + np.float32(2.0) * random.standard_normal((size, PIXELS)).astype(np.float32), labels


def train(args, role, index, addresses):
    weights = Weights(addresses)
    chief = role == "chief"
    number = 0 if chief else index + 1
    if chief:
        start = np.random.default_rng(1).standard_normal(SIZE).astype(np.float32) * np.float32(0.05)
        weights.ask(b"init", flat=start)
    random = np.random.default_rng(100 + number)
    began, seen, steps = time.monotonic(), 0, 0
    while steps < args.tf_train_steps:
        flat, steps = weights.pull()
        images, labels = batch(args.tf_batch_size, random)
        loss, g = gradient(flat, images, labels)
        weights.ask(b"push", args.tf_learning_rate, g)
        seen += len(labels)
        if (seen // len(labels)) % 50 == 1:
            print(f"step {steps}: loss={loss:.4f} examples/sec: {seen / (time.monotonic() - began):.1f}", flush=True)
    print(f"{role} {index} has trained on {seen} examples", flush=True)
    if chief:
        finish(args, weights)


def finish(args, weights):
    """What the chief does at the end."""
    flat, steps = weights.pull()
    images, labels = batch(2048, np.random.default_rng(3))
    accuracy = (forward(flat, images)[1].argmax(1) == labels).mean()
    print(f"after {steps} steps on {len(weights.conns)} parameter servers: accuracy={accuracy:.4f}", flush=True)
    if args.tf_export_dir:
        model = io.BytesIO()
        np.savez(model, *unflatten(flat))
        export(args.tf_export_dir, model.getvalue())
        print(f"exported the model to {args.tf_export_dir}", flush=True)


def export(folder, model):
    """Writes the model into a folder, or into a bucket where it is s3://BUCKET/PATH."""
    if folder.startswith("s3://"):
        put_object(folder.removeprefix("s3://").rstrip("/") + "/model.npz", model)
        return
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.npz"), "wb") as f:
        f.write(model)


def put_object(name, body):
    """Stores an object, signed with version 4 of AWS' signature.
    https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html"""
    endpoint, path = os.environ["S3_ENDPOINT"], "/" + urllib.parse.quote(name)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": urllib.parse.urlsplit(endpoint).netloc, "x-amz-content-sha256": digest, "x-amz-date": now}
    signed = ";".join(headers)  # in the order of the alphabet
    request = "\n".join(["PUT", path, "", *(f"{k}:{v}" for k, v in headers.items()), "", signed, digest])
    scope = f"{now[:8]}/{os.environ.get('AWS_REGION', 'us-east-1')}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = b"AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential={os.environ['AWS_ACCESS_KEY_ID']}/{scope}, "
                                f"SignedHeaders={signed}, Signature={hmac.new(key, text.encode(), 'sha256').hexdigest()}")
    urllib.request.urlopen(urllib.request.Request(endpoint + path, data=body, method="PUT", headers=headers), timeout=60).close()


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--tf-export-dir", default="")
    flags.add_argument("--tf-train-steps", type=int, default=600, help="gradients of all trainers together")
    flags.add_argument("--tf-batch-size", type=int, default=64)
    flags.add_argument("--tf-learning-rate", type=float, default=0.1)
    args = flags.parse_args()
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, role, index = config["cluster"], config["task"]["type"], config["task"]["index"]
    print(f"{role} {index} of", ", ".join(f"{len(v)} {k}" for k, v in sorted(cluster.items())), flush=True)
    if role == "ps":
        Server().serve(int(cluster["ps"][index].rsplit(":", 1)[1]))
    else:
        train(args, role, index, cluster["ps"])


main()
