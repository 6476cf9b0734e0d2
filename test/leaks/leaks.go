// Package leaks gives the goroutines of tests time to end before goleak looks for them.
package leaks

import (
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end.
const patience = 2 * time.Minute

// VerifyTestMain is goleak.VerifyTestMain with patience: it looks once the goroutines of successful tests have ended, or when patience is
// over. goleak itself waits for less than half a second, in which a busy machine need not run all of them.
func VerifyTestMain(m goleak.TestingM, ignore ...goleak.Option) {
	goleak.VerifyTestMain(patient{m, ignore}, ignore...)
}

type patient struct {
	m      goleak.TestingM
	ignore []goleak.Option
}

func (p patient) Run() int {
	code := p.m.Run()
	if code == 0 {
		_ = Find(p.ignore...) // VerifyTestMain looks again, and tells
	}
	return code
}

// Find is goleak.Find with patience.
func Find(ignore ...goleak.Option) error {
	err := goleak.Find(ignore...)
	for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); {
		err = goleak.Find(ignore...)
	}
	return err
}
