"""Makes the dataset on the shared storage, and puts the program of the experiments beside it.

dataset.py FOLDER IMAGES PROGRAM TEXT
"""
import os
import random
import sys

folder, images, program, text = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
os.makedirs(folder, exist_ok=True)
random.seed(1)
for first in range(0, images, 500):
    with open(os.path.join(folder, f"{first // 500:04d}.bin"), "wb") as f:
        f.write(random.randbytes(3 * 32 * 32 * min(500, images - first)))
with open(program, "w") as f:
    f.write(text)
print(f"{images} images in {len(os.listdir(folder))} files")
