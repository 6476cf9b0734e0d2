package firstfault_test

import (
	"time"

	"github.com/argosy-ml/argosy/launcher/firstfault"
)

const stall = "[2021-02-02 21:19:07.345988: W /tmp/horovod/common/stall_inspector.cc:105] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors or that only subset of ranks is submitting tensors, which will cause deadlock. \n"

var frameworks = []crash{
	{
		name: "Horovod stalls", source: "stall_inspector.cc of Horovod 0.28, as a user shows it",
		logs: launcher("[1,0]<stdout>:step 1\n[1,2]<stdout>:step 1\n[1,2]<stdout>:evaluating\n[1,0]<stderr>:" + stall + "[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:2: [DistributedSGD_Allreduce/HorovodAllreduce_grads_0]\n" + nonzero("0", "1")),
		want: want{2, "job-worker-1", firstfault.Stall, "Horovod: stalled", "evaluating", "Missing ranks"},
	},
	{
		name: "Horovod stalls because a rank failed", source: "stall_inspector.cc of Horovod 0.28",
		logs: launcher(traceback("1", "x = next(it)", "tensorflow.python.framework.errors_impl.DataLossError: corrupted record at 0") + "[1,0]<stderr>:" + stall + "[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:1: [HorovodAllreduce_grads_0]\n"),
		want: want{1, "job-worker-0", firstfault.Exception, "DataLossError: corrupted record", "DataLossError", ""},
	},
	{
		name: "Horovod: the others are shut down", source: "horovod/common/exceptions.py and operations.cc of Horovod 0.28",
		logs: launcher(traceback("3", "loss()", "ValueError: logits and labels must have the same shape") + traceback("0", "hvd.allreduce(x)", "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This was caused by an exception on one of the ranks or an attempt to allreduce, allgather or broadcast a tensor after one of the ranks finished execution.") + nonzero("0", "1")),
		want: want{3, "job-worker-1", firstfault.Exception, "logits and labels must have the same shape", "ValueError", "Horovod"},
	},
	{
		name: "horovodrun with gloo", source: "horovod/runner/gloo_run.py of Horovod 0.28",
		logs: launcher("[0]<stdout>:step 1\n[1]<stderr>:fatal error: no GPU for me\nProcess 1 exit with status code 4.\nTraceback (most recent call last):\n  File \"/usr/local/bin/horovodrun\", line 8, in <module>\n    sys.exit(run_commandline())\n" +
			"RuntimeError: Horovod detected that one or more processes exited with non-zero status, thus causing the job to be terminated. The first process to do so was:\nProcess name: 1\nExit code: 4\n"),
		want: want{1, "job-worker-0", firstfault.Exit, "no GPU for me (exit code 4)", "no GPU for me", "Horovod detected"},
	},
	{
		name: "TensorFlow: out of memory on a GPU", source: "tensorflow/core/common_runtime of TensorFlow 2.15",
		logs: map[string]string{
			"worker-1": tracebackOf("", "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error: OOM when allocating tensor with shape[256,64,112,112] and type float on /job:worker/replica:0/task:1/device:GPU:0"),
			"worker-0": tracebackOf("", "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Connection reset by peer"),
		},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second), "worker-1": exit(1, 2*time.Second)},
		want: want{1, "job-worker-1", firstfault.GPUMemory, "OOM when allocating tensor", "OOM", ""},
	},
	{
		name: "TensorFlow: a task sends no heartbeats", source: "coordination_service.cc of TSL (TensorFlow 2.15)",
		logs: map[string]string{
			"worker-0": "2026-11-20 23:13:20.000000: E external/local_tsl/tsl/distributed_runtime/coordination/coordination_service.cc:724] The following tasks are unhealthy (stopped sending heartbeats):\n2026-11-20 23:13:20.000000: E coordination_service.cc:725] /job:worker/replica:0/task:3 heartbeat timeout\n",
			"worker-3": "loading\n",
		},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second)},
		want: want{3, "job-worker-3", firstfault.Stall, "sends no heartbeats any more", "loading", ""},
	},
	{
		name: "TensorFlow: NaN", source: "tensorflow/core/kernels/check_numerics_op.cc",
		logs: map[string]string{"worker-2": tracebackOf("", "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error: gradient contains NaN : Tensor had NaN values")},
		ends: map[string]firstfault.Pod{"worker-2": exit(1, time.Second)},
		want: want{2, "job-worker-2", firstfault.NotANumber, "Tensor had NaN values", "NaN", ""},
	},
	{
		name: "Keras stops at NaN", source: "keras/src/callbacks/terminate_on_nan.py",
		logs: map[string]string{"worker-0": "Batch 41: Invalid loss, terminating training\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second)},
		want: want{0, "job-worker-0", firstfault.NotANumber, "Invalid loss", "Batch 41", ""},
	},
	{
		name: "host memory runs out in the program", source: "numpy/core/_exceptions.py",
		logs: map[string]string{"worker-1": tracebackOf("", "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 745. GiB for an array with shape (100000000000,) and data type float64")},
		ends: map[string]firstfault.Pod{"worker-1": exit(1, time.Second)},
		want: want{1, "job-worker-1", firstfault.Memory, "ran out of memory", "Unable to allocate", ""},
	},
	{
		name: "Fortran", source: "libgfortran of GCC 12",
		logs: launcher("[1,2]<stderr>:At line 12 of file solver.f90 (unit = 10, file = 'grid.dat')\n[1,2]<stderr>:Fortran runtime error: End of file\n" + nonzero("2", "2")),
		want: want{2, "job-worker-1", firstfault.Exception, "Fortran runtime error: End of file", "grid.dat", ""},
	},
	{
		name: "permission denied", source: "CPython 3.11",
		logs: map[string]string{"worker-0": tracebackOf("", "PermissionError: [Errno 13] Permission denied: '/training_logs/run1'")},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, time.Second)},
		want: want{0, "job-worker-0", firstfault.Permission, "Permission denied: '/training_logs/run1'", "PermissionError", ""},
	},
}

var cluster = []crash{
	{
		name: "OOM kill of a pod", source: "the container statuses of Kubernetes 1.34",
		logs: map[string]string{"worker-1": "step 3\n", "worker-0": tracebackOf("", peer)},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, 2*time.Second), "worker-1": {Exit: &firstfault.Ending{Code: 137, Reason: "OOMKilled", At: epoch.Add(time.Second)}}},
		want: want{1, "job-worker-1", firstfault.Memory, "more memory than its limit (exit code 137)", "step 3", ""},
	},
	{
		name: "eviction", source: "eviction_manager.go of Kubernetes 1.34",
		logs: map[string]string{"worker-2": "step 3\n", "worker-0": tracebackOf("", peer)},
		ends: map[string]firstfault.Pod{"worker-0": exit(1, 2*time.Second), "worker-2": {Removed: "Evicted", Message: "The node was low on resource: ephemeral-storage."}},
		want: want{2, "job-worker-2", firstfault.Evicted, "Evicted: The node was low on resource: ephemeral-storage.", "step 3", ""},
	},
	{
		name: "node shut down", source: "nodeshutdown_manager.go of Kubernetes 1.34",
		ends: map[string]firstfault.Pod{"worker-3": {Removed: "Terminated", Message: "Pod was terminated in response to imminent node shutdown."}},
		logs: map[string]string{"worker-3": "step 3\n"},
		want: want{3, "job-worker-3", firstfault.Lost, "imminent node shutdown", "step 3", ""},
	},
	{
		name: "exit code without a word", source: "sh of dash 0.5",
		logs: map[string]string{"worker-0": "step 3\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(7, time.Second)},
		want: want{0, "job-worker-0", firstfault.Exit, "exited with code 7", "step 3", ""},
	},
	{
		name: "program not found in the image", source: "sh of dash 0.5",
		logs: map[string]string{"worker-0": "sh: 1: python: not found\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(127, time.Second)},
		want: want{0, "job-worker-0", firstfault.NoProgram, "sh: 1: python: not found", "python: not found", ""},
	},
	{
		name: "image for another machine", source: "runc 1.1 and the kernel",
		logs: map[string]string{"worker-0": "exec /usr/bin/sh: exec format error\nsh: Exec format error\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(255, time.Second)},
		want: want{0, "job-worker-0", firstfault.Interpreter, "Exec format error", "exec format error", ""},
	},
	{
		name: "shell missing in the image", source: "containerd 1.7: reason and message of the container",
		ends: map[string]firstfault.Pod{"worker-0": {Exit: &firstfault.Ending{Code: 128, Reason: "StartError", Message: `failed to create containerd task: exec: "bash": executable file not found in $PATH: unknown`, At: epoch}}},
		logs: map[string]string{"worker-1": "step 1\n"},
		want: want{0, "job-worker-0", firstfault.Exit, `exec: "bash": executable file not found`, "", ""},
	},
	{
		name: "stopped from outside", source: "CPython 3.11 and sh",
		logs: map[string]string{"worker-0": "step 3\n", "worker-1": "step 3\n"},
		ends: map[string]firstfault.Pod{"worker-0": exit(143, time.Second), "worker-1": exit(143, 2*time.Second)},
		want: want{0, "job-worker-0", firstfault.Stopped, "SIGTERM", "step 3", ""},
	},
}
