/* Measures an all-reduce over all ranks and prints it as nccl-tests does. The bus bandwidth is that of
   https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md: size / time * 2 * (ranks - 1) / ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double seconds(float *send, float *receive, int count, int times) {
	double began, own, most;
	int i;
	MPI_Barrier(MPI_COMM_WORLD);
	began = MPI_Wtime();
	for (i = 0; i < times; i++) MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	own = MPI_Wtime() - began;
	MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

int main(int argc, char **argv) {
	static const int sizes[] = {1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 25};
	char host[MPI_MAX_PROCESSOR_NAME] = "", *hosts;
	int rank, ranks, length, i;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Get_processor_name(host, &length);
	hosts = malloc((size_t)ranks * sizeof host);
	MPI_Gather(host, sizeof host, MPI_CHAR, hosts, sizeof host, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (i = 0; rank == 0 && i < ranks; i++) printf("#  Rank %2d on %s\n", i, hosts + (size_t)i * sizeof host);
	if (rank == 0) printf("#       size         count      type   redop    root     time   algbw   busbw\n"
		"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n");
	for (i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
		int count = sizes[i] / (int)sizeof(float), times;
		float *send = calloc(count, sizeof(float)), *receive = calloc(count, sizeof(float));
		double each, speed;
		seconds(send, receive, count, 1); /* the first one connects the ranks */
		each = seconds(send, receive, count, 1);
		times = each > 0.25 ? 2 : each < 0.0025 ? 200 : (int)(0.5 / each);
		each = seconds(send, receive, count, times) / times;
		speed = sizes[i] / each / 1e9;
		if (rank == 0) printf("%12d  %12d     float     sum      -1 %8.1f %7.3f %7.3f\n", sizes[i], count, each * 1e6, speed, speed * 2 * (ranks - 1) / ranks);
		free(send);
		free(receive);
		if (each > 1) break; /* larger messages take too long here */
	}
	MPI_Finalize();
	return 0;
}
