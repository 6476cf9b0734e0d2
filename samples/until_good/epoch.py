"""Trains a model for one round more and says whether that is enough. Plain Python: any image with it will do."""
import argparse
import json
import math
import pathlib
import random

POINTS = 300


def examples(seed):
    """Points on two circles, told apart by the squares of their coordinates."""
    dice = random.Random(seed)
    for _ in range(POINTS):
        label = dice.randrange(2)
        angle, radius = dice.uniform(0, 2 * math.pi), (1.0 if label else 2.0) + dice.gauss(0, 0.25)
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        yield [x * x, y * y, x, y, 1.0], label


def probability(weights, x):
    z = sum(w * value for w, value in zip(weights, x))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def write(name, text):
    file = pathlib.Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def main():
    flags = argparse.ArgumentParser()
    for name in ("model", "next-model", "accuracy", "enough", "next-round"):
        flags.add_argument("--" + name, required=True)
    flags.add_argument("--round", type=int, required=True)
    flags.add_argument("--target", type=float, required=True)
    flags.add_argument("--most", type=int, required=True)
    args = flags.parse_args()

    weights = json.loads(pathlib.Path(args.model).read_text())
    for x, label in examples(seed=args.round):
        miss = label - probability(weights, x)
        weights = [w + 0.01 * miss * value for w, value in zip(weights, x)]
    hits = sum((probability(weights, x) > 0.5) == bool(label) for x, label in examples(seed=1000))
    accuracy = hits / POINTS
    enough = accuracy >= args.target or args.round >= args.most
    print(f"round {args.round}: accuracy={accuracy:.4f}, " + ("enough" if enough else "go on"))
    write(args.next_model, json.dumps(weights))
    write(args.accuracy, json.dumps(accuracy))
    write(args.enough, json.dumps(enough))
    write(args.next_round, json.dumps(args.round + 1))


if __name__ == "__main__":
    main()
