package scrape_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// twoHosts is a map as Open MPI 4.1 prints it for one rank on each of two hosts.
const twoHosts = ` Data for JOB [7,1] offset 0 Total slots allocated 2

 ========================   JOB MAP   ========================

 Data for node: a	Num slots: 1	Max slots: 0	Num procs: 1
 	Process OMPI jobid: [7,1] App: 0 Process rank: 0 Bound: N/A

 Data for node: b	Num slots: 1	Max slots: 0	Num procs: 1
 	Process OMPI jobid: [7,1] App: 0 Process rank: 1 Bound: N/A

 =============================================================
`

// twoHosts5 is the same as PRRTE 3 of Open MPI 5 prints it with --display map.
// https://github.com/openpmix/prrte/blob/v3.0/src/runtime/data_type_support/prte_dt_print_fns.c
const twoHosts5 = `
========================   JOB MAP   ========================
Data for JOB prterun-trainer-launcher-abcde-34@1 offset 0 Total slots allocated 2
    Mapping policy: BYSLOT:NOOVERSUBSCRIBE  Ranking policy: SLOT Binding policy: NONE
    Cpu set: N/A  PPR: N/A  Cpus-per-rank: N/A  Cpu Type: CORE


Data for node: a	Num slots: 1	Max slots: 0	Num procs: 1
        Process jobid: prterun-trainer-launcher-abcde-34@1 App: 0 Process rank: 0 Bound: N/A

Data for node: b	Num slots: 1	Max slots: 0	Num procs: 1
        Process jobid: prterun-trainer-launcher-abcde-34@1 App: 0 Process rank: 1 Bound: N/A

=============================================================
`

func TestMapFilter(t *testing.T) {
	t.Parallel()
	two := scrape.World{Ranks: 2, Hosts: []string{"a", "b"}, PerHost: []int{1, 1}, At: []string{"a", "b"}}
	other := strings.ReplaceAll(strings.ReplaceAll(twoHosts, "[7,1]", "[8,1]"), "node: b", "node: a")
	for name, tc := range map[string]struct {
		log    string
		passed string
		worlds []scrape.World
	}{
		"a map of Open MPI 5":       {"before\n" + twoHosts5 + "after\n", "before\n\nafter\n", []scrape.World{two}},
		"one map":                   {"before\n" + twoHosts + "after\n", "before\nafter\n", []scrape.World{two}},
		"the map of every daemon":   {twoHosts + twoHosts + twoHosts + "x\n", "x\n", []scrape.World{two}},
		"maps mixed line by line":   {mix(twoHosts, twoHosts) + "x\n", "x\n", []scrape.World{two}},
		"output between":            {strings.Replace(twoHosts, "\n Data for node: b", "[1,0]<stdout>:hello\n Data for node: b", 1), "[1,0]<stdout>:hello\n", []scrape.World{two}},
		"a second mpirun":           {twoHosts + "x\n" + other, "x\n", []scrape.World{two, {Ranks: 2, Hosts: []string{"a"}, PerHost: []int{1}, At: []string{"a", "a"}}}},
		"not a map":                 {" Data for JOB\n\n =====\n Data for node: x\n", " Data for JOB\n\n =====\n Data for node: x\n", nil},
		"no line end":               {"text", "text", nil},
		"no line end, like a map":   {" Data for JOB [", " Data for JOB [", nil},
		"a map cut off":             {twoHosts[:200], "", nil},
		"an indented line in a map": {strings.Replace(twoHosts, "\n\n Data for node: b", "\n  note\n Data for node: b", 1), "  note\n", []scrape.World{two}},
		"an endless line in a map":  {twoHosts[:60] + strings.Repeat(" y", 1000) + "\n", strings.Repeat(" y", 1000) + "\n", nil},
		"empty lines outside a map": {"\n\n" + twoHosts + "\n", "\n\n\n", []scrape.World{two}},
		"rules outside a map":       {twoHosts + " ====\n====\n", " ====\n====\n", []scrape.World{two}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, byByte := range []bool{false, true} {
				var worlds []scrape.World
				var passed strings.Builder
				f := scrape.NewMapFilter(&passed, false, func(w scrape.World) { worlds = append(worlds, w) })
				write(t, f, tc.log, byByte)
				require.NoError(t, f.Close())
				require.Equal(t, tc.worlds, worlds)
				if name != "a map cut off" && name != "an endless line in a map" {
					require.Equal(t, tc.passed, passed.String())
				}

				passed.Reset()
				f = scrape.NewMapFilter(&passed, true, func(scrape.World) {})
				write(t, f, tc.log, byByte)
				require.NoError(t, f.Close())
				require.Equal(t, tc.log, passed.String(), "what the user asked for is shown")
			}
		})
	}
}

// mix takes lines of a and b in turn.
func mix(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	var out strings.Builder
	for i := range x {
		out.WriteString(x[i] + y[i])
	}
	return out.String()
}
