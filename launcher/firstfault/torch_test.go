package firstfault_test

import (
	"time"

	"github.com/argosy-ml/argosy/launcher/firstfault"
)

// childFailed is torchrun's report.
func childFailed(at, host, rank, local, code, trace string) string {
	return `torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : ` + at + `
  host      : ` + host + `
  rank      : ` + rank + ` (local_rank: ` + local + `)
  exitcode  : ` + code + ` (pid: 208585)
  error_file: <N/A>
  traceback : ` + trace + `
============================================================
`
}

const elastic = "torch/distributed/elastic/multiprocessing/errors of PyTorch 2"

// tracebackOf is one of torch 2.2 or later, which marks each line with the rank, or without a mark.
func tracebackOf(tag, exception string) string {
	return tag + "Traceback (most recent call last):\n" + tag + "  File \"/root/code/train.py\", line 88, in <module>\n" + tag + "    main()\n" + tag + exception + "\n"
}

const peer = `RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.88.0.7]:31337`

func watchdog(rank string) string {
	return "[rank" + rank + "]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank " + rank + "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=64214, OpType=ALLREDUCE, NumelIn=131072000, NumelOut=131072000, Timeout(ms)=600000) ran for 600081 milliseconds before timing out.\n"
}

var torch = []crash{
	{
		name: "exception in one pod, the others lose it", source: "gloo/transport/tcp/pair.cc",
		logs: map[string]string{
			"worker-0": "@1 step 1\n@9 " + tracebackOf("", peer), "worker-1": "@1 step 1\n@8 " + tracebackOf("", "RuntimeError: shape '[3]' is invalid for input of size 4"),
			"worker-2": "@1 step 1\n@9 " + tracebackOf("", peer), "worker-3": "@1 step 1\n@9 " + tracebackOf("", peer),
		},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, 8*time.Second), "worker-1": exit(1, 9*time.Second), "worker-2": exit(1, 8*time.Second), "worker-3": exit(1, 9*time.Second)},
		want: want{1, "job-worker-1", firstfault.Exception, "raised RuntimeError: shape '[3]' is invalid for input of size 4 (exit code 1)", "shape '[3]'", "Connection closed"},
	},
	{
		name: "GPU out of memory", source: "torch/cuda of PyTorch 2.4",
		logs: map[string]string{
			"worker-2": "@5 " + tracebackOf("[rank2]: ", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.20 GiB is free."),
			"worker-0": "@6 [rank0]:[W1218 20:27:21.426415540 TCPStore.cpp:115] [c10d] recvVector failed on SocketImpl(fd=3): Connection reset by peer\n",
		},
		ends: map[string]firstfault.Pod{"worker-2": exit(1, 5*time.Second), "worker-0": exit(1, 6*time.Second)},
		want: want{2, "job-worker-2", firstfault.GPUMemory, "the GPU's memory is full", "CUDA out of memory", ""},
	},
	{
		name: "hang that NCCL's watchdog ends", source: "ProcessGroupNCCL.cpp of PyTorch 2.3",
		logs: map[string]string{
			"worker-0": "@1 step 9\n@601 " + watchdog("0"), "worker-1": "@1 step 9\n@601 " + watchdog("1"), "worker-2": "@1 step 8\n@1 loading shard 17\n", "worker-3": "@1 step 9\n@601 " + watchdog("3"),
		},
		ends: map[string]firstfault.Pod{"worker-0": exit(134, 601*time.Second), "worker-1": exit(134, 601*time.Second), "worker-2": exit(143, 605*time.Second), "worker-3": exit(134, 602*time.Second)},
		want: want{2, "job-worker-2", firstfault.Stall, "took no part any more in what 3 other ranks waited for: they waited 600081 ms in ALLREDUCE", "loading shard 17", "Watchdog"},
	},
	{
		name: "hang that all ranks share", source: "ProcessGroupNCCL.cpp of PyTorch 2.3",
		logs: map[string]string{"worker-0": watchdog("0"), "worker-1": watchdog("1"), "worker-2": watchdog("2"), "worker-3": watchdog("3")},
		ends: map[string]firstfault.Pod{"worker-0": exit(134, time.Second), "worker-1": exit(134, time.Second), "worker-2": exit(134, time.Second), "worker-3": exit(134, time.Second)},
		want: want{0, "job-worker-0", firstfault.Stall, "so did all 4 ranks that tell", "Watchdog caught", ""},
	},
	{
		name: "gloo times out because a rank hangs", source: "gloo/transport/tcp/unbound_buffer.cc",
		logs: map[string]string{"worker-0": tracebackOf("", "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:84] Timed out waiting 1800000ms for recv operation to complete"), "worker-3": "reading /data/part-3\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Hour)},
		want: want{1, "job-worker-1", firstfault.Stall, "waited 1800000 ms for other ranks", "", "reading"},
	},
	{
		name: "torchrun reports a signal", source: elastic, slots: 2,
		logs: map[string]string{
			"worker-0": "[default0]:step 1\n[default1]:step 1\n",
			"worker-1": "[default0]:step 1\n[default1]:step 1\n[default1]:loading\n" + childFailed("2026-01-15_05:44:28", "job-worker-1", "3", "1", "-9", "Signal 9 (SIGKILL) received by PID 208585"),
		},
		ends: map[string]firstfault.Pod{"worker-1": exit(1, time.Second)},
		want: want{3, "job-worker-1", firstfault.Killed, "was ended by signal 9", "loading", "Root Cause"},
	},
	{
		name: "torchrun reports an exception", source: elastic, slots: 2,
		logs: map[string]string{
			"worker-0": "[default0]:step 1\n[default1]:" + "Traceback (most recent call last):\n[default1]:  File \"/root/code/train.py\", line 3, in <module>\n[default1]:IndexError: list index out of range\n" +
				childFailed("2026-01-15_05:44:28", "job-worker-0", "1", "1", "1", "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"),
			"worker-1": childFailed("2026-01-15_05:44:31", "job-worker-1", "2", "0", "-6", "Signal 6 (SIGABRT) received by PID 208585"),
		},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, 3*time.Second), "worker-1": exit(1, 2*time.Second)},
		want: want{1, "job-worker-0", firstfault.Exception, "raised IndexError: list index out of range (exit code 1)", "IndexError", "Root Cause"},
	},
	{
		name: "torchrun: agents of other pods only follow", source: elastic, slots: 2,
		logs: map[string]string{
			"worker-0": "[default0]:Traceback (most recent call last):\n[default0]:  File \"/root/code/train.py\", line 3, in <module>\n[default0]:" + peer + "\n" + childFailed("2026-01-15_05:44:29", "job-worker-0", "0", "0", "1", "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"),
			"worker-1": "[default1]:Traceback (most recent call last):\n[default1]:  File \"/root/code/train.py\", line 3, in <module>\n[default1]:KeyError: 'image'\n" + childFailed("2026-01-15_05:44:30", "job-worker-1", "3", "1", "1", "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"),
		},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, 3*time.Second), "worker-1": exit(1, 3*time.Second)},
		want: want{3, "job-worker-1", firstfault.Exception, "raised KeyError: 'image'", "KeyError", ""},
	},
	{
		name: "port in use", source: "PyTorch 1.13, as it printed it here",
		logs: map[string]string{"worker-0": "W20261123 19:55:42.345516 11997 socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29777 (errno: 98 - Address already in use).\nE20261123 19:55:42.346163 11997 socket.cpp:462] [c10d] The server socket has failed to listen on any local network address.\n" +
			tracebackOf("", "RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29777 (errno: 98 - Address already in use).")},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second)},
		want: want{0, "job-worker-0", firstfault.PortInUse, "a port is in use", "Address already in use", ""},
	},
	{
		name: "NaN check", source: "engine.py of torchvision's references",
		logs: map[string]string{"worker-1": "Epoch: [0]  [  10/5000]  eta: 1:00:00\nLoss is nan, stopping training\n"},
		ends: map[string]firstfault.Pod{"worker-1": exit(1, time.Second), "worker-0": exit(143, 2*time.Second)},
		want: want{1, "job-worker-1", firstfault.NotANumber, "Loss is nan, stopping training (exit code 1)", "Loss is nan", ""},
	},
	{
		name: "assertion", source: "CPython 3.11",
		logs: map[string]string{"worker-3": tracebackOf("[rank3]: ", "AssertionError: batch size must be divisible by the world size")},
		ends: map[string]firstfault.Pod{"worker-3": exit(1, time.Second)},
		want: want{3, "job-worker-3", firstfault.Assertion, "batch size must be divisible", "AssertionError", ""},
	},
	{
		name: "Python package missing", source: "CPython 3.11",
		logs: map[string]string{"worker-0": tracebackOf("", "ModuleNotFoundError: No module named 'apex'")},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second)},
		want: want{0, "job-worker-0", firstfault.NoModule, "No module named 'apex'", "apex", ""},
	},
	{
		name: "wrong Python", source: "CPython 2.7",
		logs: map[string]string{"worker-0": "  File \"train.py\", line 4\n    print(f\"loss={loss}\")\n                       ^\nSyntaxError: invalid syntax\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second)},
		want: want{0, "job-worker-0", firstfault.Interpreter, "SyntaxError: invalid syntax", "SyntaxError", ""},
	},
	{
		name: "disk full", source: "CPython 3.11",
		logs: map[string]string{"worker-2": "saving step 500\n" + tracebackOf("", "OSError: [Errno 28] No space left on device")},
		ends: map[string]firstfault.Pod{"worker-2": exit(1, time.Second)},
		want: want{2, "job-worker-2", firstfault.DiskFull, "a disk is full", "saving step 500", ""},
	},
	{
		name: "checkpoint on a full disk", source: "inline_container.cc of PyTorch 2",
		logs: map[string]string{"worker-0": tracebackOf("", "RuntimeError: [enforce fail at inline_container.cc:783] . PytorchStreamWriter failed writing file data/3: file write failed")},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second)},
		want: want{0, "job-worker-0", firstfault.DiskFull, "file write failed", "PytorchStreamWriter", ""},
	},
	{
		name: "shared memory too small", source: "torch/utils/data/dataloader.py of PyTorch 2",
		logs: map[string]string{"worker-1": "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n" + tracebackOf("", "RuntimeError: DataLoader worker (pid 331) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.")},
		ends: map[string]firstfault.Pod{"worker-1": exit(1, time.Second)},
		want: want{1, "job-worker-1", firstfault.SharedMem, "/dev/shm is too small", "out of shared memory", ""},
	},
	{
		name: "a GPU fails", source: "c10/cuda/CUDAException.cpp of PyTorch 2",
		logs: map[string]string{"worker-3": tracebackOf("[rank3]: ", "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"), "worker-0": tracebackOf("[rank0]: ", "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2395, remote process exited or there was a network error, NCCL version 2.21.5")},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second), "worker-3": exit(1, 2*time.Second)},
		want: want{3, "job-worker-3", firstfault.GPU, "uncorrectable ECC error", "ECC", ""},
	},
	{
		name: "the master's name is not known", source: "socket.cpp of PyTorch 2",
		logs: map[string]string{"worker-1": tracebackOf("[rank1]: ", "torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (job-worker-9, 23456). The IPv6 network addresses of (job-worker-9, 23456) cannot be retrieved (gai error: -2 - Name or service not known).")},
		ends: map[string]firstfault.Pod{"worker-1": exit(1, time.Second)},
		want: want{1, "job-worker-1", firstfault.HostUnknown, "a host name is not known", "gai error", ""},
	},
	{
		name: "wrong arguments", source: "argparse of CPython 3.11",
		logs: map[string]string{"worker-0": "usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --learning-rate 0.1\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(2, time.Second)},
		want: want{0, "job-worker-0", firstfault.Usage, "unrecognized arguments: --learning-rate 0.1 (exit code 2)", "usage:", ""},
	},
}
