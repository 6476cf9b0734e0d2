// Package pipetest holds what tests of pipes share.
package pipetest

import "bytes"

// Late is a buffer that blocks every write until From is closed.
type Late struct {
	bytes.Buffer
	From <-chan struct{}
}

func (l *Late) Write(b []byte) (int, error) {
	<-l.From
	return l.Buffer.Write(b)
}
