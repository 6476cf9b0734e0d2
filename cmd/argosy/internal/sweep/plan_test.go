package sweep

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseMatrix(t *testing.T) {
	t.Parallel()
	axes, err := parseMatrix([]string{"workers=1,2,4", "batch=64"})
	require.NoError(t, err)
	require.Equal(t, []axis{{"workers", []string{"1", "2", "4"}}, {"batch", []string{"64"}}}, axes)
	for given, want := range map[string]string{
		"workers": "want name=value,value", "=1": "want name=value", "workers=1,,2": "want name=value", "workers=1,2,1": "1 is given twice",
	} {
		_, err := parseMatrix([]string{given})
		require.ErrorContains(t, err, want, given)
	}
	_, err = parseMatrix([]string{"workers=1", "workers=2"})
	require.ErrorContains(t, err, "workers is given twice")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	axes, err := parseMatrix([]string{"workers=1,2,4", "batch=64,128"})
	require.NoError(t, err)
	all := cells(axes)
	require.Len(t, all, 6)
	slots := order(all, 5, 3)
	require.Len(t, slots, 30)
	require.Equal(t, slots, order(cells(axes), 5, 3), "the same seed gives the same order")
	require.NotEqual(t, slots, order(all, 5, 4))
	require.Equal(t, slots[:18], order(all, 3, 3), "more repeats go on where fewer ended")
	made := map[string]map[int]bool{}
	for i, s := range slots {
		name := s.cell.name()
		if made[name] == nil {
			made[name] = map[int]bool{}
		}
		require.Equal(t, i/6+1, s.repeat, "each cell is measured once before any is measured again")
		require.False(t, made[name][s.repeat])
		made[name][s.repeat] = true
	}
	for i := range 6 { // A B B A
		require.Equal(t, slots[i].cell, slots[11-i].cell)
		require.Equal(t, slots[12+i].cell, slots[23-i].cell)
	}
	require.NotEqual(t, slots[0:6], slots[12:18])
}

func TestStrong(t *testing.T) {
	t.Parallel()
	s, err := parseStrong("batch_size=512")
	require.NoError(t, err)
	batch, err := s.of(cell{"workers": "4"}, map[string]string{"workers": "4", "gpus": "8"})
	require.NoError(t, err)
	require.Equal(t, "16", batch)
	_, err = s.of(cell{"workers": "3"}, map[string]string{"workers": "3", "gpus": "0"})
	require.ErrorContains(t, err, "workers=3 has 3 ranks, which do not divide it")
	for _, wrong := range []string{"batch_size", "=4", "batch_size=-1"} {
		_, err := parseStrong(wrong)
		require.ErrorContains(t, err, "want name=number")
	}
}

func TestPresets(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][]axis{
		"eni":         {{"network", []string{"host", "eni"}}},
		"gpus=6":      {{"workers", []string{"1", "2", "4", "6"}}},
		"gpus=160":    {{"workers", []string{"1", "2", "4", "8", "16", "32", "64", "128", "160"}}},
		"storage":     {{"data", []string{"ebs:/data", "efs:/data", "fsx:/data"}}},
		"storage=a,b": {{"data", []string{"a:/data", "b:/data"}}},
	} {
		axes, err := withPreset(given, nil)
		require.NoError(t, err)
		require.Equal(t, want, axes)
	}
	axes, err := withPreset("eni", []axis{{"network", []string{"cni", "host"}}, {"workers", []string{"2"}}})
	require.NoError(t, err)
	require.Equal(t, []axis{{"network", []string{"cni", "host"}}, {"workers", []string{"2"}}}, axes, "what is given counts")
	_, err = withPreset("gpus", nil)
	require.ErrorContains(t, err, "as in gpus=16")
	_, err = withPreset("tpus", nil)
	require.ErrorContains(t, err, "there are eni, gpus, storage")
}
