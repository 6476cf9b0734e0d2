package firstfault_test

import "github.com/argosy-ml/argosy/launcher/firstfault"

const rule = "===================================================================================\n"

func mpich(host, code, end string) string {
	return "\n" + rule + "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 20643 RUNNING AT " + host + "\n=   EXIT CODE: " + code +
		"\n=   CLEANING UP REMAINING PROCESSES\n=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" + rule + end
}

func intel(rank, host, how string) string {
	return "\n" + rule + "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK " + rank + " PID 5490 RUNNING AT " + host + "\n=   " + how + "\n" + rule
}

var hydra = []crash{
	{
		name: "segmentation fault (MPICH)", source: "pmiserv_cb.c and mpiexec.c of Hydra, as MVAPICH's guide shows them",
		logs: launcher("[2] step 1\n" + mpich("job-worker-1", "139", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\nThis typically refers to a problem with your application.\nPlease see the FAQ page for debugging suggestions\n")),
		want: want{none, "job-worker-1", firstfault.Crash, "SIGSEGV, segmentation fault", "", ""},
	},
	{
		name: "exit code on one host (MPICH)", source: "pmiserv_cb.c of Hydra",
		logs: launcher("[0] step 1\n[1] step 1\n[1] no such optimizer\n" + mpich("job-worker-0", "7", "")),
		want: want{none, "job-worker-0", firstfault.Exit, "exited with code 7", "step 1", ""},
	},
	{
		name: "exception with tags (MPICH)", source: "pmiserv_cb.c of Hydra; -prepend-rank",
		logs: launcher("[0] step 1\n[2] Traceback (most recent call last):\n[2]   File \"/root/train.py\", line 3, in <module>\n[2] ValueError: no data\n" + mpich("job-worker-1", "1", "")),
		want: want{2, "job-worker-1", firstfault.Exception, "raised ValueError: no data", "ValueError: no data", "BAD TERMINATION"},
	},
	{
		name: "MPI_Abort (MPICH)", source: "abort.c of MPICH 4",
		logs: launcher("[3] wrong grid\nAbort(3) on node 3 (rank 3 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3) - process 3\n" + mpich("job-worker-1", "3", "")),
		want: want{3, "job-worker-1", firstfault.Aborted, "called MPI_Abort with code 3", "wrong grid", ""},
	},
	{
		name: "MPI error (MPICH)", source: "errutil.c of MPICH 4, as a user of PRRTE shows it",
		logs: launcher("Abort(943352582) on node 0 (rank 0 in comm 0): Fatal error in internal_Send: Invalid rank, error stack:\ninternal_Send(124): MPI_Send(buf=(nil), count=0, MPI_INT, 1, 0, MPI_COMM_WORLD) failed\ninternal_Send(78).: Invalid rank has value 1 but must be nonnegative and less than 1\n"),
		want: want{0, "job-worker-0", firstfault.MPI, "Fatal error in internal_Send: Invalid rank", "Invalid rank has value", ""},
	},
	{
		name: "no such program (MPICH)", source: "hydra/lib/utils/launch.c of MPICH",
		logs: launcher("[proxy:0:1@job-worker-1] HYDU_create_process (lib/utils/launch.c:73): execvp error on file ./nosuch (No such file or directory)\n" + mpich("job-worker-1", "255", "")),
		want: want{none, "job-worker-1", firstfault.NoProgram, "./nosuch cannot be executed: No such file or directory", "execvp error", ""},
	},
	{
		name: "worker lost (MPICH)", source: "pmiserv_cb.c of Hydra",
		logs: launcher("[0] step 1\n[mpiexec@job-launcher-x7k2p] control_cb (mpiexec/pmiserv_cb.c:204): connection to proxy 1 at host job-worker-1 failed\n[mpiexec@job-launcher-x7k2p] HYDT_dmxu_poll_wait_for_event (lib/tools/demux/demux_poll.c:75): callback returned error status\n"),
		want: want{none, "job-worker-1", firstfault.Lost, "a worker was lost", "", ""},
	},
	{
		name: "killed (Intel MPI)", source: "Hydra of Intel MPI 2021, as users of oneAPI show it",
		logs: launcher("[1] step 7\n" + intel("1", "job-worker-0", "KILLED BY SIGNAL: 11 (Segmentation fault)") + intel("0", "job-worker-0", "KILLED BY SIGNAL: 9 (Killed)")),
		want: want{1, "job-worker-0", firstfault.Crash, "SIGSEGV", "step 7", ""},
	},
	{
		name: "one failed, the others were killed for it (Intel MPI)", source: "Hydra of Intel MPI 2021, as users of LAMMPS show it",
		logs: launcher("[0] step 7\n[2] CUDA error: an illegal memory access was encountered\n" + intel("0", "job-worker-0", "KILLED BY SIGNAL: 9 (Killed)") + intel("1", "job-worker-0", "KILLED BY SIGNAL: 9 (Killed)") + intel("3", "job-worker-1", "KILLED BY SIGNAL: 9 (Killed)")),
		want: want{2, "job-worker-1", firstfault.GPU, "CUDA error: an illegal memory access", "illegal memory access", "step 7"},
	},
	{
		name: "exit code (Intel MPI)", source: "Hydra of Intel MPI 2021",
		logs: launcher("[3] Assertion failed in file train.c at line 12: n > 0\n" + intel("3", "job-worker-1", "EXIT STATUS: 1")),
		want: want{3, "job-worker-1", firstfault.Exit, "exited with code 1", "Assertion failed", ""},
	},
	{
		name: "fabric not found (Intel MPI)", source: "errutil.c of MPICH 3.4, which Intel MPI 2021 is made of",
		logs: launcher("Abort(1090959) on node 2 (rank 2 in comm 0): Fatal error in PMPI_Init: Other MPI error, error stack:\nMPIR_Init_thread(178)...........:\nMPID_Init(1532)......: OFI addrinfo() failed (ofi_init.c:1532:MPIDI_OFI_mpi_init_hook:No data available)\n"),
		want: want{2, "job-worker-1", firstfault.MPI, "Fatal error in PMPI_Init", "OFI addrinfo() failed", ""},
	},
}
