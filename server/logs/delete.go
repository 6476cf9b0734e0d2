package logs

import (
	"context"
	"io"
	"time"
)

// Folder is where all logs of a run are kept.
func Folder(run string) string { return "runs/" + run }

// Delete removes all logs of a run, with what is known of them. Those that are still written end.
func (a *Archive) Delete(ctx context.Context, run string) error {
	a.abandon(run)
	if err := a.c.Artifacts.DeleteAll(ctx, Folder(run)); err != nil {
		return err // the store goes on knowing of them, so that they can be deleted later
	}
	return a.c.Store.DeleteLogs(ctx, run)
}

// Copy gives a step the log of another's main container, so that it stays when that one's goes. It gives the key of the
// copy. NotFound: the log does not exist.
func (a *Archive) Copy(ctx context.Context, from Query, to Step) (key string, err error) {
	from.Container = Main
	d, err := a.Open(ctx, from)
	if err != nil {
		return "", err
	}
	defer d.Close()
	if d.r != nil {
		return "", ErrNone
	}
	l := d.log
	l.RunID, l.NodeID, l.Namespace, l.Pod, l.PodUID = to.RunID, to.NodeID, to.Namespace, to.Pod, "copy-"+d.log.PodUID
	l.Attempt, l.Restart, l.StartedAt = to.Attempt, 0, time.Now()
	n := len(d.parts)
	if n == 0 && l.Lines > 0 || n > 0 && l.Lines > d.parts[n-1].Lines {
		n++
	}
	for i := range n {
		if err := a.copyPart(ctx, d.log.Key(i), l.Key(i)); err != nil {
			return "", err
		}
	}
	for _, p := range d.parts {
		if err := a.c.Store.PutLog(ctx, l, &p); err != nil {
			return "", err
		}
	}
	return l.Key(0), a.c.Store.PutLog(ctx, l, nil)
}

func (a *Archive) copyPart(ctx context.Context, from, to string) error {
	object, err := a.c.Artifacts.Get(ctx, from)
	if err != nil {
		return err
	}
	defer object.Close()
	return a.c.Artifacts.Put(ctx, to, io.LimitReader(object, maxPart), -1)
}

// abandon ends the recordings of a run, and begins no more of the pods that are known.
func (a *Archive) abandon(run string) {
	a.mu.Lock()
	for _, t := range a.pods {
		if t.pod.RunID == run {
			t.foreign = true
			clear(t.logs)
		}
	}
	var recordings []*recording
	if act := a.runs[run]; act != nil {
		recordings, act.recordings = act.recordings, nil
		a.tell(run)
	}
	a.mu.Unlock()
	for _, r := range recordings {
		r.stop()
		<-r.stopped
		r.saving.Lock() // a save that is under way would bring back what is deleted
		r.mu.Lock()
		r.over = true
		r.tell()
		r.mu.Unlock()
		r.saving.Unlock()
	}
}
