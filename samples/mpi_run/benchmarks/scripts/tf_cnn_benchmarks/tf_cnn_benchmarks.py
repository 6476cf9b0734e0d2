#!/usr/bin/env python3
"""Synchronous data-parallel training on synthetic images, over MPI.

The command line and the output are those of the well-known program of this
name, so that what reads one reads the other. The program is not that one: the
model that --model names is a small residual network of 32 x 32 images here, so
its images/sec tell how fast this program runs, and nothing about ResNet-101.
Everything that is printed is measured: gradients are computed, summed over all
ranks with MPI_Allreduce and applied, and at the end all ranks must hold the same
weights, bit for bit.

    python3 tf_cnn_benchmarks.py --model resnet101
    mpirun -np 2 python3 tf_cnn_benchmarks.py --model resnet101 --batch_size 64 --variable_update horovod
"""

import argparse
import math
import os
import sys
import time
import zlib

# Ranks share the cores of a machine: one thread each unless told otherwise.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

try:
    import numpy as np
except ImportError as fault:
    sys.exit(f"error: {fault}. Install NumPy (Debian: python3-numpy).")

import network
import world

# Residual blocks of each stage: deeper names make deeper networks.
MODELS = {
    "resnet18": (1,),
    "resnet34": (1, 1),
    "resnet50": (1, 1, 1),
    "resnet101": (1, 2, 1),
    "resnet152": (2, 2, 2),
}
WIDTH = 16
# The optimizers, and the learning rate of each unless one is set.
RATES = {"sgd": 0.1, "momentum": 0.05, "rmsprop": 0.003, "adam": 0.003}
LONGEST = 1.0  # norm that a gradient is shortened to, so that training stays stable
POOL = 4  # batches of synthetic images that each rank goes through again and again

# Flags of the original that change nothing here.
ACCEPTED = (
    "--summary_verbosity", "--save_summaries_steps", "--save_model_secs", "--data_name", "--data_format", "--device",
    "--local_parameter_device", "--horovod_device", "--num_intra_threads", "--num_inter_threads", "--num_gpus", "--num_epochs",
)  # fmt: skip


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value


def not_negative(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, and is {value}")
    return value


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--model", choices=sorted(MODELS), default="resnet50", help="network, scaled down (default: %(default)s)")
    parser.add_argument("--batch_size", type=positive, default=64, help="images of a step on each rank (default: %(default)s)")
    parser.add_argument("--num_batches", type=positive, default=100, help="steps that are measured (default: %(default)s)")
    parser.add_argument("--num_warmup_batches", type=not_negative, default=10, help="steps before that (default: %(default)s)")
    parser.add_argument("--display_every", type=positive, default=10, help="steps between two lines (default: %(default)s)")
    parser.add_argument("--optimizer", choices=sorted(RATES), default="sgd", help="default: %(default)s")
    parser.add_argument("--momentum", type=float, default=0.9, help="default: %(default)s")
    parser.add_argument("--init_learning_rate", "--learning_rate", type=float, help="default: " + ", ".join(f"{rate} for {name}" for name, rate in RATES.items()))
    parser.add_argument("--variable_update", default="horovod", help="only horovod (all-reduce) is there (default: %(default)s)")
    parser.add_argument("--tf_random_seed", type=int, default=1234, help="seed of weights and images (default: %(default)s)")
    parser.add_argument("--backend", choices=["auto", "numpy", "torch"], default="auto", help="auto takes PyTorch when it is installed")
    for flag in ACCEPTED:
        parser.add_argument(flag, help=argparse.SUPPRESS)
    flags, unknown = parser.parse_known_args(arguments)
    if flags.init_learning_rate is None:
        flags.init_learning_rate = RATES[flags.optimizer]
    return flags, unknown


def build(flags):
    """The network, the name of what computes it, and the kind of device it runs on."""
    if flags.backend != "numpy":
        try:
            import network_torch
        except ImportError:
            if flags.backend == "torch":
                sys.exit("error: --backend=torch, but PyTorch is not installed")
        else:
            net = network_torch.ResNet(MODELS[flags.model], WIDTH)
            return net, f"PyTorch {network_torch.torch.__version__}", "gpu" if net.device.type == "cuda" else "cpu"
    return network.ResNet(MODELS[flags.model], WIDTH), f"NumPy {np.__version__}", "cpu"


def synthetic(flags, ranks):
    """A few batches of images. Each class has a pattern that noise lies over, so
    that there is something to learn; every rank draws images of its own."""
    patterns = np.random.default_rng(flags.tf_random_seed).standard_normal((network.CLASSES, 8, 8, 3)).astype(np.float32)
    rng = np.random.default_rng([flags.tf_random_seed, 1 + ranks.rank])
    batches = []
    for _ in range(POOL):
        labels = rng.integers(0, network.CLASSES, flags.batch_size)
        images = patterns[labels].repeat(network.IMAGE // 8, axis=1).repeat(network.IMAGE // 8, axis=2)
        images += 0.5 * rng.standard_normal(images.shape).astype(np.float32)
        batches.append((images, labels))
    return batches


class Trainer:
    """One rank of synchronous data-parallel stochastic gradient descent."""

    def __init__(self, flags, net, ranks):
        self.flags, self.net, self.ranks = flags, net, ranks
        net.layout.initialise(net.weights, np.random.default_rng(flags.tf_random_seed))
        ranks.broadcast(net.weights)  # all begin with the weights of rank 0
        # What the optimizers remember: means of the gradients and of their squares.
        self.mean, self.square = np.zeros_like(net.weights), np.zeros_like(net.weights)
        self.batches = synthetic(flags, ranks)
        self.count = 0

    def step(self):
        """Trains on one batch of every rank; returns this rank's loss."""
        images, labels = self.batches[self.count % POOL]
        self.count += 1
        loss = self.net.step(images, labels)
        gradients = self.net.gradients
        self.ranks.sum(gradients)
        gradients /= self.ranks.size
        # After the sum, so that all ranks shorten alike.
        length = np.sqrt(np.vdot(gradients, gradients))
        if length > LONGEST:
            gradients *= LONGEST / length
        self.net.weights -= self.flags.init_learning_rate * self.direction(gradients)
        return loss

    def direction(self, gradients):
        """Where the optimizer goes from here, against the gradient."""
        if self.flags.optimizer == "momentum":
            self.mean = self.flags.momentum * self.mean + gradients
            return self.mean
        if self.flags.optimizer in ("rmsprop", "adam"):
            decay = 0.9 if self.flags.optimizer == "rmsprop" else 0.999
            self.square = decay * self.square + (1 - decay) * gradients**2
            if self.flags.optimizer == "rmsprop":
                return gradients / np.sqrt(self.square + 1e-8)
            self.mean = 0.9 * self.mean + 0.1 * gradients
            unbiased = self.square / (1 - decay**self.count)
            return self.mean / (1 - 0.9**self.count) / (np.sqrt(unbiased) + 1e-8)
        return gradients


def speed(batch_size, times):
    """Mean images/sec, its standard error, and the jitter: the spread by the
    median deviation, which a single slow step does not change."""
    speeds = batch_size / np.array(times)
    mean = batch_size / np.mean(times)
    error = np.std(speeds) / math.sqrt(len(speeds))
    jitter = 1.4826 * np.median(np.abs(speeds - np.median(speeds)))
    return f"images/sec: {mean:.1f} +/- {error:.1f} (jitter = {jitter:.1f})"


def say(line):
    """Prints a whole line at once: the lines of other ranks come between."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def introduce(flags, unknown, net, backend, device, ranks):
    hosts = {}
    for name in ranks.gather(world.host()):
        hosts[name] = hosts.get(name, 0) + 1
    if ranks.rank:
        return
    for flag in unknown:
        say(f"warning: {flag} is not known here and ignored")
    if flags.variable_update != "horovod":
        say(f"warning: --variable_update={flags.variable_update} is not there: gradients are all-reduced, as with horovod")
    say(f"Backend:     {backend}")
    say(f"Model:       {flags.model}, scaled down: {net.weights.size} weights, {network.IMAGE} x {network.IMAGE} images")
    say("Dataset:     synthetic")
    say("Mode:        training")
    say(f"World size:  {ranks.size}")
    say("Hosts:       " + ", ".join(f"{name} ({count})" for name, count in hosts.items()))
    say(f"Batch size:  {flags.batch_size * ranks.size} global")
    say(f"             {flags.batch_size} per device")
    say(f"Num batches: {flags.num_batches}")
    shown = [f"horovod/{device}:{rank}" for rank in range(min(ranks.size, 8))]
    say(f"Devices:     {shown}{' ...' if ranks.size > len(shown) else ''}")
    say("Data format: NHWC")
    say(f"Optimizer:   {flags.optimizer}")
    say("Variables:   horovod")
    say("==========")


def train(flags, trainer, ranks):
    """Warms up, measures, and prints what every rank measured."""
    for _ in range(flags.num_warmup_batches):
        trainer.step()
    if ranks.rank == 0:
        say("Done warm up")
        say("Step\tImg/sec\ttotal_loss")
    ranks.barrier()
    begin = last = time.perf_counter()
    times = []
    for step in range(1, flags.num_batches + 1):
        loss = trainer.step()
        now = time.perf_counter()
        times.append(now - last)
        last = now
        if step == 1 or step % flags.display_every == 0:
            say(f"{step}\t{speed(flags.batch_size, times)}\t{loss:.3f}")
        if not math.isfinite(loss):
            say(f"error: the loss is {loss}: the learning rate of {flags.init_learning_rate} is too high")
            ranks.abort(1)
    ranks.barrier()
    seconds = max(ranks.gather(time.perf_counter() - begin))  # the same total on all ranks
    total = flags.num_batches * flags.batch_size * ranks.size / seconds
    say("-" * 64)
    say(f"total images/sec: {total:.2f}")
    say("-" * 64)


def check(trainer, ranks):
    """All ranks must hold the same weights, or they did not train together."""
    sums = ranks.gather(zlib.crc32(trainer.net.weights.tobytes()))
    if len(set(sums)) > 1:
        if ranks.rank == 0:
            say(f"error: the ranks ended with different weights (checksums {sums})")
        ranks.barrier()
        ranks.abort(1)
    elif ranks.rank == 0 and ranks.size > 1:
        say(f"All {ranks.size} ranks hold the same weights (checksum {sums[0]:08x})")


def main():
    flags, unknown = parse(sys.argv[1:])
    ranks = world.join()
    net, backend, device = build(flags)
    introduce(flags, unknown, net, backend, device, ranks)
    if ranks.rank == 0:
        say("Generating training model")
    trainer = Trainer(flags, net, ranks)
    if ranks.rank == 0:
        say("Running warm up")
    train(flags, trainer, ranks)
    check(trainer, ranks)


if __name__ == "__main__":
    main()
