"""The same network as network.py, in PyTorch.

The weights and gradients are NumPy vectors here too: on a CPU they share their
memory with PyTorch, on a GPU they are copied.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from network import CLASSES


class Block(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        same = channels == filters and stride == 1
        self.shortcut = nn.Identity() if same else nn.Conv2d(channels, filters, 1, stride, bias=False)
        self.gain = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        branch = self.second(functional.relu(self.first(x)))
        return functional.relu(self.shortcut(x) + self.gain * branch)


class Layout:
    def __init__(self, modules):
        self.modules = modules

    def initialise(self, vector, rng):
        at = 0
        for p in self.modules.parameters():
            deviation = 0.0
            if p.dim() == 4:
                deviation = np.sqrt(2.0 / p[0].numel())
            elif p.dim() == 2:
                deviation = 0.01
            vector[at : at + p.numel()] = rng.standard_normal(p.numel()).astype(np.float32) * deviation
            at += p.numel()


class ResNet:
    def __init__(self, blocks, width):
        torch.set_num_threads(1)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        layers = [nn.Conv2d(3, width, 5, 4, 2, bias=False), nn.ReLU()]
        channels = width
        for stage, repeats in enumerate(blocks):
            filters = width << stage
            for repeat in range(repeats):
                layers.append(Block(channels, filters, 2 if stage and not repeat else 1))
                channels = filters
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)]
        self.net = nn.Sequential(*layers).to(self.device)
        self.layout = Layout(self.net)
        size = sum(p.numel() for p in self.net.parameters())
        self.flat = torch.zeros(size, device=self.device)
        self.flat_gradients = torch.zeros(size, device=self.device)
        at = 0
        for p in self.net.parameters():
            p.data = self.flat[at : at + p.numel()].view_as(p)
            p.grad = self.flat_gradients[at : at + p.numel()].view_as(p)
            at += p.numel()
        # cpu() shares the memory of what is on the CPU already
        self.weights = self.flat.cpu().numpy()
        self.gradients = self.flat_gradients.cpu().numpy()
        self.batches = {}

    def step(self, images, labels):
        key = id(images)
        if key not in self.batches:
            x = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
            self.batches[key] = (x.to(self.device), torch.from_numpy(labels).to(self.device))
        x, y = self.batches[key]
        copied = self.device.type != "cpu"
        if copied:
            self.flat.copy_(torch.from_numpy(self.weights))
        self.flat_gradients.zero_()
        loss = functional.cross_entropy(self.net(x), y)
        loss.backward()
        if copied:
            self.gradients[:] = self.flat_gradients.cpu().numpy()
        return loss.item()
