"""Trains a softmax classifier by gradient descent and says how good it is. Plain Python: any image with it will do."""
import argparse
import json
import math
import pathlib
import random

FEATURES, CLASSES, SPREAD = 12, 5, 0.9


def examples(n, seed):
    """Points around one centre for each class, near enough to each other that a line between them is not exact."""
    dice = random.Random(seed)
    layout = random.Random(1)
    centres = [[layout.gauss(0, SPREAD) for _ in range(FEATURES)] for _ in range(CLASSES)]
    for _ in range(n):
        label = dice.randrange(CLASSES)
        yield [dice.gauss(centre, 1) for centre in centres[label]] + [1.0], label


def scores(weights, x):
    """The probability of each class."""
    logits = [sum(w * value for w, value in zip(row, x)) for row in weights]
    top = max(logits)
    powers = [math.exp(logit - top) for logit in logits]
    return [power / sum(powers) for power in powers]


def train(rate, epochs):
    weights = [[0.0] * (FEATURES + 1) for _ in range(CLASSES)]
    data = list(examples(400, seed=2))
    for epoch in range(1, epochs + 1):
        loss = 0.0
        for x, label in data:
            p = scores(weights, x)
            loss -= math.log(max(p[label], 1e-12))
            for k in range(CLASSES):
                step = rate * ((k == label) - p[k])
                weights[k] = [w + step * value for w, value in zip(weights[k], x)]
        print(f"epoch {epoch}: loss={loss / len(data):.4f}", flush=True)
    return weights


def accuracy(weights):
    data = list(examples(400, seed=3))
    hits = sum(max(range(CLASSES), key=scores(weights, x).__getitem__) == label for x, label in data)
    return hits / len(data)


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--rate", type=float, required=True)
    flags.add_argument("--epochs", type=int, required=True)
    flags.add_argument("--model", required=True)
    flags.add_argument("--accuracy", required=True)
    flags.add_argument("--metrics", required=True)
    args = flags.parse_args()
    weights = train(args.rate, args.epochs)
    good = accuracy(weights)
    print(f"learning rate {args.rate}: accuracy={good:.4f}")
    write(args.model, weights)
    write(args.accuracy, good)
    write(args.metrics, dict(metrics=[dict(name="accuracy", numberValue=good, format="PERCENTAGE")]))


def write(name, value):
    file = pathlib.Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


if __name__ == "__main__":
    main()
