package firstfault_test

import "github.com/argosy-ml/argosy/launcher/firstfault"

// What Open MPI prints around its reports.
const (
	primary = `--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
`
	steps = "[1,0]<stdout>:step 1 loss=0.5\n[1,1]<stdout>:step 1 loss=0.5\n[1,2]<stdout>:step 1 loss=0.5\n[1,3]<stdout>:step 1 loss=0.5\n"
)

func nonzero(rank, code string) string {
	return primary + `--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[17009,1],` + rank + `]
  Exit code:    ` + code + `
--------------------------------------------------------------------------
`
}

func noticed(rank, signal string) string {
	return primary + `--------------------------------------------------------------------------
mpirun noticed that process rank ` + rank + ` with PID 0 on node job-worker-` + map[bool]string{true: "0", false: "1"}[rank < "2"] + ` exited on signal ` + signal + `.
--------------------------------------------------------------------------
`
}

// own41 is for texts in the form in which Open MPI 4.1.4 of Debian 12 printed them for programs that failed on this machine.
const own41 = "Open MPI 4.1.4, as it printed it here"

func traceback(rank, code, exception string) string {
	return "[1," + rank + "]<stderr>:Traceback (most recent call last):\n" +
		"[1," + rank + "]<stderr>:  File \"/root/code/train.py\", line 9, in <module>\n" +
		"[1," + rank + "]<stderr>:    " + code + "\n" +
		"[1," + rank + "]<stderr>:" + exception + "\n"
}

func launcher(text string) map[string]string { return map[string]string{"launcher": text} }

var openMPI4 = []crash{
	{
		name: "exception on one rank", source: own41,
		logs: launcher(steps + traceback("1", "raise ValueError", "ValueError: bad shape (3, 4)") + "[1,3]<stdout>:step 2\n" + nonzero("1", "1")),
		want: want{1, "job-worker-0", firstfault.Exception, "raised ValueError: bad shape (3, 4) (exit code 1)", "ValueError: bad shape", "mpirun detected"},
	},
	{
		name: "exception, and the others lose their connections", source: own41 + "; btl_tcp.c of Open MPI",
		logs: launcher(steps + traceback("2", "x = d['lr']", "KeyError: 'lr'") +
			"[1,0]<stderr>:[job-worker-0][[17009,1],0][btl_tcp.c:559:mca_btl_tcp_recv_blocking] recv(25) failed: Connection reset by peer (104)\n" +
			"[1,1]<stderr>:[job-worker-0][[17009,1],1][btl_tcp.c:559:mca_btl_tcp_recv_blocking] recv(25) failed: Connection reset by peer (104)\n" + nonzero("0", "1")),
		want: want{2, "job-worker-1", firstfault.Exception, "raised KeyError: 'lr'", "KeyError: 'lr'", "Connection reset"},
	},
	{
		name: "exception that leaves the job hanging until it is stopped", source: own41 + " (mpi4py waits in MPI_Finalize)",
		logs: launcher(steps + traceback("3", "raise ValueError", "ValueError: bad shape")),
		want: want{3, "job-worker-1", firstfault.Exception, "raised ValueError: bad shape", "ValueError", ""},
	},
	{
		name: "exception that was caught before another", source: own41,
		logs: launcher(steps + traceback("1", "cache = open(f)", "FileNotFoundError: [Errno 2] No such file or directory: 'cache'") + "[1,1]<stdout>:no cache, going on\n" +
			traceback("1", "loss.backward()", "RuntimeError: grad can be implicitly created only for scalar outputs") + nonzero("1", "1")),
		want: want{1, "job-worker-0", firstfault.Exception, "grad can be implicitly created", "RuntimeError", ""},
	},
	{
		name: "exception ignored at the end, and an exit code", source: own41 + "; Python 3.11",
		logs: launcher(steps + "[1,1]<stderr>:fatal: no such optimizer\n[1,2]<stderr>:Exception ignored in: <function Pool.__del__ at 0x7f>\n" + traceback("2", "self._change_notifier.put(None)", "TypeError: 'NoneType' object is not callable") + nonzero("1", "7")),
		want: want{1, "job-worker-0", firstfault.Exit, "fatal: no such optimizer", "fatal: no such optimizer", "TypeError"},
	},
	{
		name: "segmentation fault", source: own41,
		logs: launcher(steps + "[1,1]<stderr>:[job-worker-0:11876] *** Process received signal ***\n[1,1]<stderr>:[job-worker-0:11876] Signal: Segmentation fault (11)\n" +
			"[1,1]<stderr>:[job-worker-0:11876] Signal code: Address not mapped (1)\n[1,1]<stderr>:[job-worker-0:11876] [ 0] [1,1]<stderr>:/lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7faf572b3050]\n" +
			"[1,1]<stderr>:[job-worker-0:11876] *** End of error message ***\n" + noticed("1", "11 (Segmentation fault)")),
		want: want{1, "job-worker-0", firstfault.Crash, "Segmentation fault (11) (was ended by signal 11", "*** End of error message ***", ""},
	},
	{
		name: "killed by a signal", source: own41,
		logs: launcher(steps + noticed("1", "9 (Killed)")),
		want: want{1, "job-worker-0", firstfault.Killed, "was ended by signal 9 (SIGKILL, as the kernel does when memory runs out)", "step 1 loss=0.5", "mpirun noticed"},
	},
	{
		name: "aborts itself", source: own41,
		logs: launcher(steps + "[1,2]<stderr>:terminate called after throwing an instance of 'std::out_of_range'\n[1,2]<stderr>:  what():  vector::_M_range_check\n" +
			"[1,2]<stderr>:[job-worker-1:11912] *** Process received signal ***\n" + noticed("2", "6 (Aborted)")),
		want: want{2, "job-worker-1", firstfault.Crash, "std::out_of_range", "what():", ""},
	},
	{
		name: "MPI_Abort", source: "help-mpi-api.txt of Open MPI 4.1.4",
		logs: launcher(steps + "[1,3]<stderr>:config has no key data\n--------------------------------------------------------------------------\n" +
			"MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 3.\n\nNOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n" +
			"You may or may not see output from other processes, depending on\nexactly when Open MPI kills them.\n--------------------------------------------------------------------------\n"),
		want: want{3, "job-worker-1", firstfault.Aborted, "called MPI_Abort with code 3", "config has no key data", "NOTE"},
	},
	{
		name: "ends without MPI_Finalize", source: own41,
		logs: launcher(steps + "--------------------------------------------------------------------------\nmpirun has exited due to process rank 1 with PID 0 on\nnode job-worker-0 exiting improperly. There are three reasons this could occur:\n\n1. this process did not call \"init\" before exiting, but others in\nthe job did.\n"),
		want: want{1, "job-worker-0", firstfault.Exit, "without MPI_Finalize", "step 1", "three reasons"},
	},
	{
		name: "wrong path", source: own41,
		logs: launcher("[1,0]<stderr>:python3: can't open file '/root/code/nofile.py': [Errno 2] No such file or directory\n" + primary +
			"[1,1]<stderr>:python3: can't open file '/root/code/nofile.py': [Errno 2] No such file or directory\n" + nonzero("0", "2")),
		want: want{0, "job-worker-0", firstfault.NoFile, "a file is missing: python3: can't open file '/root/code/nofile.py'", "nofile.py", ""},
	},
	{
		name: "no such program", source: own41,
		logs: launcher("--------------------------------------------------------------------------\nmpirun was unable to launch the specified application as it could not access\nor execute an executable:\n\n" +
			"Executable: ./nosuch\nNode: job-worker-1\n\nwhile attempting to start process rank 2.\n--------------------------------------------------------------------------\n2 total processes failed to start\n"),
		want: want{2, "job-worker-1", firstfault.NoProgram, "./nosuch is missing or may not be executed", "Executable: ./nosuch", ""},
	},
	{
		name: "program not on the path", source: "help-orterun.txt of Open MPI 4.1.4",
		logs: launcher("--------------------------------------------------------------------------\nmpirun was unable to find the specified executable file, and therefore\ndid not launch the job.  This error was first reported for process\nrank 0; it may have occurred for other processes as well.\n\n" +
			"NOTE: A common cause for this error is misspelling a mpirun command\n      line parameter option (remember that mpirun interprets the first\n      unrecognized command line token as the executable).\n\nNode:       job-worker-0\nExecutable: pyhton\n--------------------------------------------------------------------------\n"),
		want: want{0, "job-worker-0", firstfault.NoProgram, "pyhton was not found", "Executable: pyhton", ""},
	},
	{
		name: "more ranks than slots", source: own41,
		logs: launcher("--------------------------------------------------------------------------\nThere are not enough slots available in the system to satisfy the 200\nslots that were requested by the application:\n\n  true\n\nEither request fewer slots for your application, or make more slots\navailable for use.\n"),
		want: want{none, "", firstfault.Slots, "asks mpirun for 200 ranks", "not enough slots", ""},
	},
	{
		name: "ssh refused", source: "ssh of OpenSSH 9.2; help-errmgr-base.txt of Open MPI 4.1.4",
		logs: launcher("ssh: connect to host job-worker-1.job.kubeflow.svc port 22: Connection refused\r\n--------------------------------------------------------------------------\nORTE was unable to reliably start one or more daemons.\nThis usually is caused by:\n\n* not finding the required libraries and/or binaries on\n  one or more nodes.\n"),
		want: want{none, "job-worker-1", firstfault.SSH, "ssh cannot connect: ssh: connect to host job-worker-1.job.kubeflow.svc port 22: Connection refused", "unable to reliably start", ""},
	},
	{
		name: "ssh key refused", source: "ssh of OpenSSH 9.2",
		logs: launcher("root@job-worker-0.job.kubeflow.svc: Permission denied (publickey,password).\r\n--------------------------------------------------------------------------\nORTE was unable to reliably start one or more daemons.\n"),
		want: want{none, "job-worker-0", firstfault.SSH, "sshd refuses the key", "Permission denied (publickey", ""},
	},
	{
		name: "worker that never answers", source: "launcher/job/launcher.sh",
		logs: launcher("argosy: waiting for the worker job-worker-1.job.kubeflow.svc: ssh: connect to host job-worker-1 port 22: Connection refused\nargosy: the worker job-worker-1.job.kubeflow.svc did not answer within 600 s, giving up: ssh: connect to host job-worker-1.job.kubeflow.svc port 22: Connection refused\n"),
		want: want{none, "job-worker-1", firstfault.SSH, "the worker did not answer within 600 s", "giving up", ""},
	},
	{
		name: "workers that lack a variable and a mount", source: "launcher/job/launcher.sh",
		logs: launcher("argosy: the worker job-worker-1.job.kubeflow.svc (ranks 2-3) lacks what the step asked for: the variable A, the mount /data. Look for a webhook that changes its pod and a start-up file of its shell; shells drop names with a dot or a dash\nargosy: the worker job-worker-0.job.kubeflow.svc (ranks 0-1) lacks what the step asked for: the variable A. Look for a webhook that changes its pod and a start-up file of its shell; shells drop names with a dot or a dash\n"),
		want: want{none, "job-worker-1", firstfault.Unequal, "ranks 2-3: the worker lacks what the step asked for: the variable A, the mount /data. Look for a webhook", "the mount /data", ""},
	},
	{
		name: "worker of one rank that lacks a variable", source: "launcher/job/launcher.sh",
		logs: launcher("argosy: the worker job-worker-0.job.kubeflow.svc (rank 0) lacks what the step asked for: the variable A. Look for a webhook that changes its pod and a start-up file of its shell; shells drop names with a dot or a dash\n"),
		want: want{0, "job-worker-0", firstfault.Unequal, "the worker lacks what the step asked for: the variable A.", "the variable A", ""},
	},
	{
		name: "host name not known", source: "ssh of OpenSSH 9.2",
		logs: launcher("ssh: Could not resolve hostname job-worker-1.job.kubeflow.svc: Name or service not known\r\n--------------------------------------------------------------------------\nORTE was unable to reliably start one or more daemons.\n"),
		want: want{none, "job-worker-1", firstfault.HostUnknown, "no such host", "Could not resolve", ""},
	},
	{
		name: "worker lost", source: "help-errmgr-base.txt of Open MPI 4.1.4",
		logs: launcher(steps + "--------------------------------------------------------------------------\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[16919,0],0] on node job-launcher-x7k2p\n  Remote daemon: [[16919,0],2] on node job-worker-1\n\nThis is usually due to either a failure of the TCP network\nconnection to the node, or possibly an internal failure of\nthe daemon itself.\n"),
		want: want{none, "job-worker-1", firstfault.Lost, "the worker was lost", "step 1", "HNP"},
	},
	{
		name: "worker out of memory", source: "help-errmgr-base.txt of Open MPI 4.1.4; memory.oom.group of Kubernetes 1.34",
		logs: launcher(steps + "--------------------------------------------------------------------------\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[16919,0],0] on node job-launcher-x7k2p\n  Remote daemon: [[16919,0],1] on node job-worker-0\n"),
		ends: map[string]firstfault.Pod{"worker-0": {Exit: &firstfault.Ending{Code: 137, Reason: "OOMKilled", At: epoch}}},
		want: want{none, "job-worker-0", firstfault.Memory, "was killed for using more memory than its limit (exit code 137)", "step 1", "HNP"},
	},
	{
		name: "library missing", source: "ld.so of glibc 2.36",
		logs: launcher("[1,2]<stderr>:./train: error while loading shared libraries: libcudnn.so.8: cannot open shared object file: No such file or directory\n" + nonzero("2", "127")),
		want: want{2, "job-worker-1", firstfault.NoLibrary, "libcudnn.so.8", "libcudnn.so.8", ""},
	},
	{
		name: "message truncated", source: "errhandler_predefined.c of Open MPI 4.1",
		logs: launcher(steps + "[1,1]<stderr>:[job-worker-0:6122] *** An error occurred in MPI_Recv\n[1,1]<stderr>:[job-worker-0:6122] *** reported by process [3512008705,1]\n[1,1]<stderr>:[job-worker-0:6122] *** on communicator MPI_COMM_WORLD\n[1,1]<stderr>:[job-worker-0:6122] *** MPI_ERR_TRUNCATE: message truncated\n[1,1]<stderr>:[job-worker-0:6122] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n[1,1]<stderr>:[job-worker-0:6122] ***    and potentially your MPI job)\n" + nonzero("1", "15")),
		want: want{1, "job-worker-0", firstfault.MPI, "MPI_ERR_TRUNCATE: message truncated", "An error occurred in MPI_Recv", ""},
	},
}

var openMPI5 = []crash{
	{
		name: "exception (Open MPI 5)", source: "help-prun.txt of PRRTE 3.0; tag of --output tag",
		logs: launcher("[prterun-job-launcher-x7k2p-34@1,3]<stdout>: step 1\n[prterun-job-launcher-x7k2p-34@1,3]<stderr>: Traceback (most recent call last):\n[prterun-job-launcher-x7k2p-34@1,3]<stderr>:   File \"/root/train.py\", line 3, in <module>\n[prterun-job-launcher-x7k2p-34@1,3]<stderr>: ZeroDivisionError: division by zero\n" +
			"--------------------------------------------------------------------------\nprterun detected that one or more processes exited with non-zero status,\nthus causing the job to be terminated. The first process to do so was:\n\n   Process name: [prterun-job-launcher-x7k2p-34@1,3]\n   Exit code:    1\n--------------------------------------------------------------------------\n"),
		want: want{3, "job-worker-1", firstfault.Exception, "raised ZeroDivisionError: division by zero", "ZeroDivisionError", "prterun"},
	},
	{
		name: "killed (Open MPI 5)", source: "help-prun.txt of PRRTE 3.0, as a user of OpenFOAM 2412 shows it",
		logs: launcher("[prterun-job-launcher-x7k2p-34@1,2]<stdout>: step 7\n--------------------------------------------------------------------------\nprterun noticed that process rank 2 with PID 1617008 on node job-worker-1 exited on\nsignal 9 (Killed).\n--------------------------------------------------------------------------\n"),
		want: want{2, "job-worker-1", firstfault.Killed, "signal 9", "step 7", "prterun"},
	},
	{
		name: "illegal instruction (Open MPI 5)", source: "help-prun.txt of PRRTE 3.0, as a user of OpenFOAM 2412 shows it",
		logs: launcher("#0  0x1471c3e2967f in ???\n--------------------------------------------------------------------------\nprterun noticed that process rank 0 with PID 1617008 on node job-worker-0 exited on\nsignal 4 (Illegal instruction).\n--------------------------------------------------------------------------\n"),
		want: want{0, "job-worker-0", firstfault.Crash, "SIGILL, illegal instruction", "prterun noticed", ""},
	},
	{
		name: "worker lost (Open MPI 5)", source: "github.com/NVIDIA/nccl-tests issue 299",
		logs: launcher("ssh: connect to host job-worker-1 port 22: Connection refused\n--------------------------------------------------------------------------\nPRTE has lost communication with a remote daemon.\n\n  HNP daemon   : [prterun-job-launcher-x7k2p-34@0,0] on node job-launcher-x7k2p\n  Remote daemon: [prterun-job-launcher-x7k2p-34@0,2] on node job-worker-1\n\nThis is usually due to either a failure of the TCP network\nconnection to the node, or possibly an internal failure of\nthe daemon itself. We cannot recover from this failure, and\ntherefore will terminate the job.\n"),
		want: want{none, "job-worker-1", firstfault.SSH, "ssh: connect to host job-worker-1 port 22: Connection refused", "PRTE has lost", ""},
	},
	{
		name: "MPI_Abort (Open MPI 5)", source: "help-mpi-api.txt of Open MPI 5.0",
		logs: launcher("[prterun-job-launcher-x7k2p-34@1,1]<stderr>: bad input\n--------------------------------------------------------------------------\nMPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n  Proc: [[40961,1],1]\n  Errorcode: 5\n\nNOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n"),
		want: want{1, "job-worker-0", firstfault.Aborted, "called MPI_Abort with code 5", "bad input", "NOTE"},
	},
}
