package document_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/document"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

func sweep(t *testing.T, network bool) *scaling.Report {
	t.Helper()
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	var runs []scaling.Run
	add := func(name, value string, ranks int, values ...float64) {
		for i, v := range values {
			at = at.Add(time.Minute)
			each := make([]float64, ranks)
			for rank := range each {
				each[rank] = v / float64(ranks) * (1 - float64(rank)/100)
			}
			runs = append(runs, scaling.Run{
				Ranks: each, ID: fmt.Sprint(value, i), Name: fmt.Sprintf("%s=%s.r%d", name, value, i+1), Started: at, Value: &v, World: ranks, Asked: ranks,
				Parameters: map[string]string{name: value, "batch_size": "64", "image": "trainer:1"}, Facts: map[string]string{"gpu": "V100"},
			})
		}
	}
	o := scaling.Options{Title: "A <sweep> | of *mine*", Metric: "images/sec", Seed: 1, Command: "argosy sweep p.tar.gz --matrix workers=1,2,4"}
	if network {
		add("network", "host", 16, 3001.91, 3000.2, 3003.3, 3001, 3002.2, 3001.5)
		add("network", "eni", 16, 3033.57, 3030.1, 3035.2, 3033, 3034.2, 3032.5)
		o.Base = "host"
	} else {
		add("workers", "1", 1, 612.5, 610, 615.1, 611.2, 613.3)
		add("workers", "2", 2, 1190, 1188.5, 1191.2, 1189, 1192.1)
		add("workers", "4", 4, 2200, 2190.5, 2210, 2199.1, 2203)
		runs = append(runs, scaling.Run{Name: "=workers=8", Parameters: map[string]string{"workers": "8", "batch_size": "64", "image": "trainer:1"}, Failure: "needs 8 CPU, the cluster has <4>"})
		runs[3].Facts = map[string]string{"gpu": "A100"}
	}
	for i := range runs {
		if runs[i].World > 1 { // one rank alone has no bandwidth
			runs[i].Bandwidth, runs[i].Probe = 3+float64(i)/10, "all-reduce of 32 MiB, mpi4py"
		}
	}
	r, err := scaling.New(runs, o)
	require.NoError(t, err)
	return r
}

// TestMarkdown compares with a file of testdata; -update writes it.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, network := range []bool{false, true} {
		var b bytes.Buffer
		require.NoError(t, document.Markdown(&b, sweep(t, network)))
		file := filepath.Join("testdata", map[bool]string{false: "workers.md", true: "network.md"}[network])
		if *update {
			require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), b.String())
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	for _, network := range []bool{false, true} {
		r := sweep(t, network)
		var b bytes.Buffer
		require.NoError(t, document.HTML(&b, r))
		page := b.String()
		require.Contains(t, page, "A &lt;sweep&gt; | of *mine*")
		require.NotContains(t, page, "<sweep>")
		for _, v := range r.Verdicts {
			require.Contains(t, strings.ReplaceAll(page, "&#43;", "+"), v)
		}
		for _, outside := range []string{"<script", "src=", "href=", "url("} {
			require.NotContains(t, page, outside, "the page needs nothing but itself")
		}
		require.Contains(t, page, map[bool]string{false: `aria-label="4: slowest is rank 3: 97.0 % of the fastest"`, true: `title="rank 15: 85.0 % of the fastest" style="--slow: 75%"`}[network])
		require.Contains(t, page, "bus GB/s")
		svgs := strings.Split(page, "<svg ")[1:]
		require.Len(t, svgs, map[bool]int{false: 2, true: 1}[network])
		for _, svg := range svgs {
			svg = "<svg " + svg[:strings.Index(svg, "</svg>")+len("</svg>")]
			require.NoError(t, wellFormed(svg), svg)
			require.NotContains(t, svg, "NaN")
			require.NotContains(t, svg, "Inf")
			require.Equal(t, !network, strings.Contains(svg, `class="ideal"`))
		}
		require.Contains(t, svgs[len(svgs)-1], `class="interval"`, "of efficiency, and of medians of six runs")
	}
}

func wellFormed(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// TestHTMLOfManyRanks: the axes become logarithmic, and one cell alone is a chart, too.
func TestHTMLOfManyRanks(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][]int{{1}, {1, 160}, {1, 2, 4, 8, 16, 32, 64, 128, 160}} {
		var runs []scaling.Run
		for _, n := range sizes {
			value := 612.5 * float64(n)
			runs = append(runs, scaling.Run{Name: strconv.Itoa(n), Value: &value, World: n, Parameters: map[string]string{"workers": strconv.Itoa(n)}})
		}
		r, err := scaling.New(runs, scaling.Options{Metric: "images/sec"})
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, document.HTML(&b, r))
		require.NotContains(t, b.String(), "NaN")
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, document.CSV(&b, sweep(t, false)))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 17)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	first, last := rows[1], rows[16]
	require.Equal(t, "'=workers=8", first[column["run"]], "a spreadsheet must not calculate it; it never started, so it comes first")
	require.Equal(t, "no", first[column["counts"]])
	require.Equal(t, "8", first[column["workers"]])
	require.Equal(t, "2203", last[column["images/sec"]])
	require.Equal(t, "550", last[column["each_rank"]])
	require.Equal(t, "yes", last[column["counts"]])
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{98000: "98000", 3033.57: "3033.6", 612.5: "612.5", 0.00123456: "0.0012346", 1234567: "1234567", 10: "10", 0: "0"} {
		require.Equal(t, want, document.Number(v))
	}
}
