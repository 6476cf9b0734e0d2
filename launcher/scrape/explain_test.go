package scrape_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// explained runs a log through a scanner that tells of each line.
func explained(t *testing.T, log, rule string) (seen []scrape.Seen) {
	t.Helper()
	r, err := scrape.ParseRule(rule)
	require.NoError(t, err)
	s := scrape.New([]scrape.Rule{r}, scrape.Explain(func(x scrape.Seen) { seen = append(seen, x) }))
	_, err = s.Write([]byte(log))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return seen
}

// A line that has the name and does not match says why.
func TestMisses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"val_loss=0.5":                 `"val_loss" is a longer name: it takes a rule of its own`,
		"train/loss: 1":                `"train/loss" is a longer name: it takes a rule of its own`,
		"loss_scale=128":               `the name goes on: "_scale=128"`,
		"Loss: 3":                      `it is written "Loss" here: rules are case-sensitive`,
		"loss 0.5":                     `neither = nor : stands behind the name, but "0.5"`,
		"loss is 0.5":                  `neither = nor : stands behind the name, but "is"`,
		"the loss":                     "nothing stands behind the name: print = or : and a number there",
		"loss:":                        "no number follows",
		"loss: none":                   `"none" is not a number`,
		"loss: 2020-09-15":             `"2020-09-15" is not a plain number`,
		"loss = 12:30:01, val_loss: 1": `"12:30:01" is not a plain number`,
		"loss=0x1f":                    `"0x1f" is not a plain number`,
		"nothing of the kind":          "",
	} {
		seen := explained(t, line+"\n", "loss")
		if want == "" {
			require.Empty(t, seen, line)
			continue
		}
		require.Len(t, seen, 1, line)
		require.Equal(t, want, seen[0].Miss, line)
		require.Equal(t, line, seen[0].Text)
	}
	for line, want := range map[string]string{
		"Speed: fast": `the regular expression matches, but "fast" is not a number`,
		"my speed 4":  "the name stands here, but the regular expression does not match",
		"Speed: 4":    "",
		"x":           "",
	} {
		seen := explained(t, line+"\n", `speed:::^Speed: (\w+)`)
		if want == "" {
			require.True(t, len(seen) == 0 || seen[0].Miss == "", line)
			continue
		}
		require.Equal(t, want, seen[0].Miss, line)
	}
}

// Matching lines come with their place, their rank and what was found.
func TestMatchesAreExplained(t *testing.T) {
	t.Parallel()
	seen := explained(t, "start\n[1,0]<stdout>:loss=0.[1,1]<stdout>:total loss: 2 nats\n[1,0]<stdout>:5\n", "loss")
	require.Equal(t, []scrape.Seen{
		{Rule: seen[0].Rule, Line: 2, Rank: 1, Text: "total loss: 2 nats", Value: 2, Unit: "nats", Summary: true},
		{Rule: seen[0].Rule, Line: 3, Rank: 0, Text: "loss=0.5", Value: .5},
	}, seen)
}

// Real output gives rules for its throughput first, and each finds what it says.
func TestSuggest(t *testing.T) {
	t.Parallel()
	openmpi, err := os.ReadFile("testdata/openmpi-4.1.4.log")
	require.NoError(t, err)
	for _, tc := range []struct{ name, log, first string }{
		{"tf_cnn_benchmarks, totals", "[1,0]<stdout>:300\timages/sec: 189.6 +/- 0.8 (jitter = 12.8)\t7.843\n[1,1]<stdout>:300\timages/sec: 189.4 +/- 0.8 (jitter = 12.7)\t7.836\n[1,0]<stdout>:total images/sec: 379.07\n", "images/sec"},
		{"tf_cnn_benchmarks, no totals", "[1,0]<stdout>:300\timages/sec: 189.6 +/- 0.8 (jitter = 12.8)\t7.843\n[1,1]<stdout>:300\timages/sec: 189.4 +/- 0.8 (jitter = 12.7)\t7.836\n", "images/sec:RAW:sum"},
		{"Horovod's synthetic benchmark", "Iter #1: 600.7 img/sec per GPU\nIter #2: 601.1 img/sec per GPU\n", `img/sec:::([0-9.,]+) ?img/sec`},
		{"DLLogger", "DLL 2020-09-15 14:29:13.473765 - Epoch: 0 Iteration: 1  train.loss : 7.09304  train.total_ips : 267.44 img/s\n", "train.total_ips"},
		{"DLLogger's JSON", `DLLL {"type":"LOG","step":[0,1],"data":{"train.total_ips":4294.9}}` + "\n", "train.total_ips"},
		{"Hugging Face", "{'train_runtime': 71.5487, 'train_samples_per_second': 6.709, 'train_loss': 0.76, 'epoch': 4.64}\n", "train_samples_per_second"},
		{"Lightning", "Epoch 5: 100%|###| 125/125 [01:23<00:00,  1.50it/s, v_num=0, train_loss=0.245]\n", `it/s:::([0-9.,]+) ?it/s`},
		{"nccl-tests", "# Avg bus bandwidth    : 220.921\n", "Avg bus bandwidth"},
		{"accuracy", "step 1 accuracy: 98.1%\n", "accuracy:PERCENTAGE:max"},
		{"mpirun 4.1.4", string(openmpi), "images/sec"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := scrape.Suggest([]byte(tc.log))
			require.NotEmpty(t, got)
			require.Equal(t, tc.first, got[0].Rule, "%+v", got)
			for _, s := range got {
				m, _ := scan(t, tc.log, s.Rule)
				require.Positive(t, m.Points, s.Rule)
				require.Equal(t, m.Points, s.Points)
				require.Equal(t, m.Value, s.Value)
			}
		})
	}
	require.Empty(t, scrape.Suggest([]byte("hello world\nEpoch: 1\n12:30:01 step 4\n")))
	require.LessOrEqual(t, len(scrape.Suggest([]byte(strings.Repeat("a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 k=1\n", 3)))), 8)
}
