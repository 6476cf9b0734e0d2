package logs

import "time"

// briefly is how old a pod is at least when its waiting counts: most that wait for a moment start by themselves, and saying so
// would cost each short step a write. Pods tell the time of their creation in whole seconds.
const briefly = 2 * time.Second

// listener hears which runs have pods that wait for something else than before.
type listener struct {
	changed func(run string)
	due     map[string]time.Time // by run: until when word of it is under way
}

// OnWaiting has f called with the run of each step's pod that begins or ceases to wait, or waits for something else. f must not
// block, and is called at most once a second for a run, but at once when a pod's own program speaks.
func (a *Archive) OnWaiting(f func(run string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listener.changed = f
}

// Wait is what the pod of a step waits for.
type Wait struct {
	Why     string    // empty: nothing
	Stated  bool      // the program in the pod says so
	Created time.Time // the pod; zero: there is none
}

// Waiting says what the pod of a step waits for before it starts. It is not known while the pods that were there at the beginning
// have not all been looked at.
func (a *Archive) Waiting(namespace, pod string) (w Wait, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.names[namespace+"/"+pod]
	if t == nil {
		return Wait{}, a.looked
	}
	w = Wait{t.pod.Waiting, t.pod.Stated, t.pod.Created}
	if !w.Stated && time.Since(w.Created) < briefly {
		w.Why = ""
	}
	return w, true
}

// noteWaiting has word of a pod sent when what it waits for counts, and when the pod is seen for the first time: what the store says may be
// of before the server started. mu is held.
func (a *Archive) noteWaiting(before, now Pod) {
	first := before.UID == ""
	if now.Gone || now.Role != "" || first && now.Ended || !first && before.Waiting == now.Waiting && before.Stated == now.Stated {
		return
	}
	if now.Stated || before.Stated {
		a.tellWaiting(now.RunID)
		return
	}
	due := now.Created.Add(briefly)
	if soon := time.Now(); due.Before(soon) || now.Waiting == "" {
		due = soon
	}
	due = due.Truncate(time.Second).Add(time.Second) // so that many pods of a run cost one word
	if !due.After(a.listener.due[now.RunID]) {
		return
	}
	a.listener.due[now.RunID] = due
	life := a.life
	time.AfterFunc(time.Until(due), func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.listener.due[now.RunID].Equal(due) {
			delete(a.listener.due, now.RunID)
		}
		if life.Err() == nil {
			a.tellWaiting(now.RunID)
		}
	})
}

// tellWaiting passes word of a run on; mu is held.
func (a *Archive) tellWaiting(run string) {
	if a.listener.changed != nil {
		a.listener.changed(run)
	}
}
