package logs

// Busy is of how many runs something is remembered.
func (a *Archive) Busy() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.runs)
}
