"""Data-parallel training of one weight with PyTorch: the ranks' gradients differ, their models must not."""
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
step = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.full((8, 1), float(rank + 1))
for _ in range(5):
    step.zero_grad()
    torch.nn.functional.mse_loss(model(x), 2 * x).backward()
    step.step()
weights = [torch.zeros(1) for _ in range(world)]
dist.all_gather(weights, model.module.weight.detach().flatten())
assert all(torch.equal(w, weights[0]) for w in weights), weights
print(f"rank {rank} of {world}: same weights", flush=True)
dist.barrier()  # nobody leaves while others talk to it
dist.destroy_process_group()  # or its threads may end the interpreter with an abort
