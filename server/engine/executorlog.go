package engine

import "bytes"

// Argo's executor writes lines of its own into the log of the container that it runs; they all look like this.
var (
	executorStart = []byte(`time="`)
	executorMark  = []byte(` argo=true`)
)

// maxExecutorLine is how long a line of the executor may be; longer ones are the user's.
const maxExecutorLine = 64 << 10

// isExecutorLine tells the executor's lines, and, of one that is not whole, whether it may become one: text that cannot is shown
// at once, so that a progress bar, which ends no line, still shows.
func isExecutorLine(text []byte, whole bool) bool {
	n := min(len(text), len(executorStart))
	if !bytes.Equal(text[:n], executorStart[:n]) || len(text) >= maxExecutorLine {
		return false
	}
	return !whole || bytes.Contains(text, executorMark)
}
