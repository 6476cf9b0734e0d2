"""A small residual network in NumPy, forward and backward.

All weights live in one flat vector and all gradients in another, so that one
all-reduce exchanges everything and one expression is the optimizer's step. The
layers hold views into the two.
"""

import numpy as np

IMAGE = 32
CLASSES = 1000


class Layout:
    """Counts the weights of a network, then deals out views into the vectors."""

    def __init__(self):
        self.pieces = []
        self.size = 0

    def add(self, shape, deviation):
        """Reserves an array and returns a function that gives its two views."""
        start, count = self.size, int(np.prod(shape))
        self.pieces.append((start, count, deviation))
        self.size += count
        return lambda vector: vector[start : start + count].reshape(shape)

    def initialise(self, vector, rng):
        for start, count, deviation in self.pieces:
            vector[start : start + count] = rng.standard_normal(count).astype(np.float32) * deviation


class Conv:
    """A convolution without bias, k x k with zero padding, in NHWC."""

    def __init__(self, layout, channels, filters, kernel, stride):
        self.channels, self.kernel, self.stride = channels, kernel, stride
        fan_in = channels * kernel * kernel
        self.view = layout.add((fan_in, filters), np.sqrt(2.0 / fan_in))

    def bind(self, weights, gradients):
        self.weight, self.gradient = self.view(weights), self.view(gradients)

    def forward(self, x):
        self.shape = x.shape
        count, height, width, channels = x.shape
        pad = self.kernel // 2
        if pad:
            x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        self.rows, self.columns = -(-height // self.stride), -(-width // self.stride)
        patches = np.empty((count, self.rows, self.columns, self.kernel * self.kernel * channels), np.float32)
        for at, window in enumerate(self.windows(x)):
            patches[..., at * channels : (at + 1) * channels] = window
        self.patches = patches.reshape(-1, patches.shape[-1])
        return (self.patches @ self.weight).reshape(count, self.rows, self.columns, -1)

    def windows(self, padded):
        """What each of the kernel's cells sees of the padded images."""
        s = self.stride
        for i in range(self.kernel):
            for j in range(self.kernel):
                yield padded[:, i : i + s * (self.rows - 1) + 1 : s, j : j + s * (self.columns - 1) + 1 : s]

    def backward(self, dy):
        dy = dy.reshape(-1, dy.shape[-1])
        self.gradient += self.patches.T @ dy
        count, height, width, channels = self.shape
        pad = self.kernel // 2
        dx = np.zeros((count, height + 2 * pad, width + 2 * pad, channels), np.float32)
        dpatches = (dy @ self.weight.T).reshape(count, self.rows, self.columns, -1)
        for at, window in enumerate(self.windows(dx)):
            window += dpatches[..., at * channels : (at + 1) * channels]
        return dx[:, pad : pad + height, pad : pad + width]


class Block:
    """relu(shortcut(x) + gain * conv(relu(conv(x)))), where gain begins at 0.

    With the gain the network trains without normalisation, whatever its depth.
    """

    def __init__(self, layout, channels, filters, stride):
        self.first = Conv(layout, channels, filters, 3, stride)
        self.second = Conv(layout, filters, filters, 3, 1)
        same = channels == filters and stride == 1
        self.shortcut = None if same else Conv(layout, channels, filters, 1, stride)
        self.view = layout.add((1,), 0.0)

    def bind(self, weights, gradients):
        self.gain, self.gain_gradient = self.view(weights), self.view(gradients)
        for conv in (self.first, self.second, self.shortcut):
            if conv:
                conv.bind(weights, gradients)

    def forward(self, x):
        self.hidden = np.maximum(self.first.forward(x), 0)
        self.branch = self.second.forward(self.hidden)
        straight = self.shortcut.forward(x) if self.shortcut else x
        self.out = np.maximum(straight + self.gain * self.branch, 0)
        return self.out

    def backward(self, dy):
        dy = dy * (self.out > 0)
        self.gain_gradient += np.vdot(dy, self.branch)
        dx = self.first.backward(self.second.backward(dy * self.gain) * (self.hidden > 0))
        return dx + (self.shortcut.backward(dy) if self.shortcut else dy)


class ResNet:
    """Convolution, stages of residual blocks, average over the image, softmax."""

    def __init__(self, blocks, width):
        layout = Layout()
        self.stem = Conv(layout, 3, width, 5, 4)
        self.blocks = []
        channels = width
        for stage, repeats in enumerate(blocks):
            filters = width << stage
            for repeat in range(repeats):
                stride = 2 if stage and not repeat else 1
                self.blocks.append(Block(layout, channels, filters, stride))
                channels = filters
        self.dense_view = layout.add((channels, CLASSES), 0.01)
        self.bias_view = layout.add((CLASSES,), 0.0)
        self.layout = layout
        self.weights = np.zeros(layout.size, np.float32)
        self.gradients = np.zeros(layout.size, np.float32)
        for part in (self.stem, *self.blocks):
            part.bind(self.weights, self.gradients)
        self.dense, self.dense_gradient = self.dense_view(self.weights), self.dense_view(self.gradients)
        self.bias, self.bias_gradient = self.bias_view(self.weights), self.bias_view(self.gradients)

    def step(self, images, labels):
        """Computes the mean loss of a batch and leaves its gradient in self.gradients."""
        self.gradients.fill(0)
        stem = np.maximum(self.stem.forward(images), 0)
        x = stem
        for block in self.blocks:
            x = block.forward(x)
        features = x.mean(axis=(1, 2))
        logits = features @ self.dense + self.bias
        loss, dlogits = softmax_loss(logits, labels)
        self.dense_gradient += features.T @ dlogits
        self.bias_gradient += dlogits.sum(axis=0)
        spread = (dlogits @ self.dense.T) / (x.shape[1] * x.shape[2])
        dx = np.broadcast_to(spread[:, None, None, :], x.shape)
        for block in reversed(self.blocks):
            dx = block.backward(dx)
        self.stem.backward(dx * (stem > 0))
        return loss


def softmax_loss(logits, labels):
    """Mean cross-entropy of a batch, and its gradient."""
    logits = logits - logits.max(axis=1, keepdims=True)
    exponents = np.exp(logits)
    sums = exponents.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = float(np.mean(np.log(sums[:, 0]) - logits[rows, labels]))
    gradient = exponents / sums
    gradient[rows, labels] -= 1
    return loss, gradient / len(labels)
