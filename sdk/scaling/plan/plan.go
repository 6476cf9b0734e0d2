// Package plan orders the measurements of a sweep. The command and pipelines use the same order.
package plan

import (
	"math/rand/v2"
	"slices"
)

// Trial is one measurement to make: the repetition of a cell, from 1.
type Trial[C any] struct {
	Cell   C
	Repeat int
}

// Order shuffles the cells for each pair of repeats, and goes through the second of the pair the other way round: A B B A.
// A machine that becomes slower then slows all cells alike. The same seed gives the same order, and a sweep with more repeats begins
// with those of one with fewer.
func Order[C any](cells []C, repeats int, seed uint64) (trials []Trial[C]) {
	random := rand.New(rand.NewPCG(seed, 0))
	shuffled := slices.Clone(cells)
	for repeat := 1; repeat <= repeats; repeat++ {
		if repeat%2 == 1 {
			random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		} else {
			slices.Reverse(shuffled)
		}
		for _, c := range shuffled {
			trials = append(trials, Trial[C]{c, repeat})
		}
	}
	return trials
}
