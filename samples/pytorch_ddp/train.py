"""Trains a small convolutional network with PyTorch's DistributedDataParallel: every rank on its own part of the data,
gradients averaged after each step. The data are made here, so nothing is downloaded."""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn

CLASSES, SIDE = 10, 16


def images(count, seed):
    """Noisy pictures of ten patterns, and which pattern each is."""
    patterns = torch.randn(CLASSES, 1, SIDE, SIDE, generator=torch.Generator().manual_seed(7))
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=random)
    return patterns[labels] + 1.5 * torch.randn(count, 1, SIDE, SIDE, generator=random), labels


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * (SIDE // 4) ** 2, CLASSES),
    )


def mean(value, device):
    """A number's mean over all ranks."""
    total = torch.tensor(float(value), device=device)
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--epochs", type=int, default=3)
    flags.add_argument("--batch-size", type=int, default=64, help="of each rank")
    flags.add_argument("--learning-rate", type=float, default=0.05)
    flags.add_argument("--examples", type=int, default=8192, help="of all ranks together")
    flags.add_argument("--checkpoint", default="", help="folder that gets the weights after each epoch")
    args = flags.parse_args()

    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")  # finds the others by MASTER_ADDR, RANK and WORLD_SIZE
    rank, world = dist.get_rank(), dist.get_world_size()
    if gpu:
        torch.cuda.set_device(rank % torch.cuda.device_count())
    else:
        torch.set_num_threads(1)
    device = torch.device("cuda" if gpu else "cpu")

    torch.manual_seed(1)
    model = nn.parallel.DistributedDataParallel(network().to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=0.9)
    inputs, labels = images(args.examples, seed=2)
    inputs, labels = inputs[rank::world].to(device), labels[rank::world].to(device)
    unseen, truth = (t.to(device) for t in images(1024, seed=3))

    for epoch in range(1, args.epochs + 1):
        began = time.monotonic()
        order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(epoch))
        total = 0.0
        batches = order.split(args.batch_size)
        for batch in batches:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item()
        speed = len(inputs) / (time.monotonic() - began)
        with torch.no_grad():
            accuracy = (model(unseen).argmax(1) == truth).float().mean().item()
        print(f"epoch {epoch} of {args.epochs}: loss={mean(total / len(batches), device):.4f} accuracy={accuracy:.4f} samples/sec: {speed:.1f}", flush=True)
        if args.checkpoint and rank == 0:
            torch.save(model.module.state_dict(), os.path.join(args.checkpoint, "model.pt"))

    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    first = weights.clone()
    dist.broadcast(first, 0)
    if not torch.equal(weights, first):
        raise SystemExit(f"rank {rank} ended with other weights than rank 0")
    print(f"rank {rank} of {world}: the same weights as rank 0", flush=True)
    dist.barrier()
    dist.destroy_process_group()  # or its threads may end the interpreter with an abort


main()
