package scrape_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// benchName is the metric that both programs look for.
const benchName = "images/sec"

// BenchmarkScanAgainstGrep reads logs of 1 GB beside grep -F -c on the same file; ARGOSY_BENCH_LOG_MB is another size in megabytes.
// Only the ratios mean something:
//
//	x-grep        grep's CPU time by the scanner's: 1 is as fast as grep, 0.5 half as fast
//	x-grep-wall   the same by the clock, which other programs on the machine disturb
//	heap-growth-B how much more memory the scanner holds at the end of the log than after its first hundredth
func BenchmarkScanAgainstGrep(b *testing.B) {
	grep, err := exec.LookPath("grep")
	if err != nil {
		b.Skip("this machine has no grep to compare with")
	}
	for _, c := range []struct {
		name  string
		every int // so many lines have one with the metric
	}{
		{"one line in 1000", 1000},
		{"one line in 10", 10},
		{"every line", 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			log := writeBenchLog(b, c.every)
			want := grepped(b, grep, log) // and the file is in memory from here on
			var theirs, ours cost
			b.ReportAllocs()
			for b.Loop() {
				theirs.add(measure(func() { require.Equal(b, want, grepped(b, grep, log)) }))
				ours.add(measure(func() { require.Equal(b, want, scanned(b, log, nil)) }))
			}
			b.ReportMetric(theirs.cpu.Seconds()/ours.cpu.Seconds(), "x-grep")
			b.ReportMetric(theirs.wall.Seconds()/ours.wall.Seconds(), "x-grep-wall")
			b.ReportMetric(float64(heapGrowth(b, log)), "heap-growth-B")
		})
	}
}

// cost is the time that reading took.
type cost struct{ cpu, wall time.Duration }

func (c *cost) add(d cost) { c.cpu, c.wall = c.cpu+d.cpu, c.wall+d.wall }

// measure takes the time of this process and of those that it started and that have ended.
func measure(f func()) cost {
	began, before := time.Now(), cpuTime()
	f()
	return cost{cpuTime() - before, time.Since(began)}
}

func cpuTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if syscall.Getrusage(who, &usage) == nil {
			sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
	return sum
}

// grepped is in how many lines grep finds the metric.
func grepped(b *testing.B, grep, log string) int {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), grep, "-F", "-c", benchName, log).Output()
	require.NoError(b, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(b, err)
	return n
}

// scanned is how many points a scanner finds; after each piece that it has read it calls read.
func scanned(b *testing.B, log string, read func()) int {
	b.Helper()
	file, err := os.Open(log)
	require.NoError(b, err)
	defer func() { _ = file.Close() }()
	s := scrape.New([]scrape.Rule{{Name: benchName}})
	filter := scrape.NewMapFilter(s, false, func(scrape.World) {})
	piece := make([]byte, 64<<10)
	for {
		n, err := file.Read(piece)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(b, err)
		_, _ = filter.Write(piece[:n]) // it fails as the scanner does, which never does
		if read != nil {
			read()
		}
	}
	require.NoError(b, filter.Close())
	require.NoError(b, s.Close())
	return s.Metrics()[0].Points
}

// heapGrowth is by how much what is reachable grows between the first hundredth of a log and its end.
func heapGrowth(b *testing.B, log string) int64 {
	b.Helper()
	info, err := os.Stat(log)
	require.NoError(b, err)
	pieces := int(info.Size() / (64 << 10))
	var heap []uint64
	n := 0
	scanned(b, log, func() {
		if n++; n%max(1, pieces/100) != 0 {
			return
		}
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		heap = append(heap, now.HeapAlloc)
	})
	return int64(slices.Max(heap)) - int64(heap[0])
}

// writeBenchLog makes the log of 16 ranks under Open MPI, as Horovod's and NCCL's lines stand in it, between those of the metric.
func writeBenchLog(b *testing.B, every int) string {
	b.Helper()
	size := 1000
	if text := os.Getenv("ARGOSY_BENCH_LOG_MB"); text != "" {
		var err error
		size, err = strconv.Atoi(text)
		require.NoError(b, err, "ARGOSY_BENCH_LOG_MB is a number of megabytes")
	}
	var part bytes.Buffer
	for n := 0; part.Len() < 1_000_000; n++ {
		rank := n * 7 % 16
		switch {
		case n%every == 0:
			_, _ = fmt.Fprintf(&part, "[1,%d]<stdout>:%d\timages/sec: %d.%d +/- 0.8 (jitter = 12.%d)\t7.%03d\n", rank, n%1000, 180+n%20, n%10, n%9, n%997)
		case n%5 == 1:
			_, _ = fmt.Fprintf(&part, "[1,%d]<stderr>:W1120 23:13:20.%06d 140402 deprecation.py:323] From benchmark_cnn.py:%d: is deprecated and will be removed in a future version.\n", rank, n%1000000, n%3000)
		case n%5 == 2:
			_, _ = fmt.Fprintf(&part, "[1,%d]<stdout>:step %d loss = %d.%03d, learning rate 0.1\n", rank, n, n%9, n%1000)
		default:
			_, _ = fmt.Fprintf(&part, "[1,%d]<stdout>:gpu-node-%d:%d:%d [%d] NCCL INFO Channel %02d : %d[%d] -> %d[%d] [send] via NET/Socket/0\n", rank, rank/8, 4000+rank, 4100+rank, rank%8, n%4, rank, rank%8, (rank+1)%16, (rank+1)%8)
		}
	}
	name := filepath.Join(b.TempDir(), "job.log")
	file, err := os.Create(name)
	require.NoError(b, err)
	w := bufio.NewWriterSize(file, 1<<20)
	for range size {
		_, err = w.Write(part.Bytes())
		require.NoError(b, err)
	}
	require.NoError(b, w.Flush())
	require.NoError(b, file.Close())
	return name
}
