package logs

// Busy is of how many runs something is remembered.
func (a *Archive) Busy() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.runs)
}

// Held is how many logs of a merge are open.
func (m *Merged) Held() int { return len(m.ready) + len(m.idle) }
