package logs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// logReader reads a log from a place on, across its segments.
type reader struct {
	life    podlog.Life
	segment int
	at      int64
	take    func(podlog.Entry) error
	pause   func() // called when nothing more is there for now; may be nil

	partial []byte // the beginning of an entry whose rest is not in the file yet
}

// read takes all entries there are. Before a segment is left, it is read once more after its successor was seen: then
// nothing is added to it any more.
func (r *reader) read() error {
	for {
		segments, err := r.life.Segments()
		if err != nil {
			return err
		}
		if err := r.readSegment(); err != nil {
			return err
		}
		i := slices.IndexFunc(segments, func(s int) bool { return s > r.segment })
		if i < 0 {
			if r.pause != nil {
				r.pause()
			}
			return nil
		}
		r.segment, r.at, r.partial = segments[i], 0, nil
	}
}

func (r *reader) readSegment() error {
	f, err := os.Open(r.life.Segment(r.segment))
	if errors.Is(err, fs.ErrNotExist) { // too old to be kept, or not begun
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return err
	}
	b := bufio.NewReaderSize(f, podlog.MaxEntry)
	for {
		line, err := b.ReadBytes('\n')
		r.at += int64(len(line))
		r.partial = append(r.partial, line...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		entry, err := podlog.ParseEntry(r.partial[:len(r.partial)-1])
		if err == nil {
			err = r.take(entry)
		}
		r.partial = r.partial[:0]
		if err != nil {
			return err
		}
	}
}

// follow reads until the log has ended, or until the context does because the client went away. Both return nil.
func (r *reader) follow(ctx context.Context, watched *Watcher) error {
	changed, release, err := watched.watch(r.life.Folder)
	if err != nil {
		return err
	}
	defer release()
	for {
		over := r.life.Over() // asked before reading, so that nothing written in between is missed
		if err := r.read(); err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// followNew finds the end of a log. The function that it returns calls take with each entry that comes after it, until the log has ended
// or the context does.
func FollowNew(life podlog.Life, watched *Watcher, take func(podlog.Entry) error) (follow func(context.Context) error, err error) {
	r := &reader{life: life, take: take}
	if r.segment, r.at, err = tailStart(life, 0); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return r.follow(ctx, watched) }, nil
}

// Watcher reports changes in the folders of logs. One inotify instance serves them all, because a user has few.
type Watcher struct {
	watcher *fsnotify.Watcher
	ended   chan struct{}

	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool // channels of those who watch a folder
}

func NewWatcher() (*Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch logs: %w (the limit is the sysctl fs.inotify.max_user_instances)", err)
	}
	f := &Watcher{watcher: w, ended: make(chan struct{}), waiting: map[string]map[chan struct{}]bool{}}
	go f.run()
	return f, nil
}

func (f *Watcher) Close() {
	_ = f.watcher.Close()
	<-f.ended
}

func (f *Watcher) run() {
	defer close(f.ended)
	for {
		select {
		case e, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			f.tell(filepath.Dir(e.Name))
		case _, ok := <-f.watcher.Errors: // events were lost: every reader looks again
			if !ok {
				return
			}
			for _, folder := range f.watcher.WatchList() {
				f.tell(folder)
			}
		}
	}
}

func (f *Watcher) tell(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.waiting[folder] {
		select {
		case c <- struct{}{}:
		default: // it holds a token already
		}
	}
}

// watch returns a channel that gets a token after changes in the folder, until release is called.
func (f *Watcher) watch(folder string) (changed <-chan struct{}, release func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting[folder] == nil {
		if err := f.watcher.Add(folder); err != nil {
			return nil, nil, fmt.Errorf("watch %s: %w", folder, err)
		}
		f.waiting[folder] = map[chan struct{}]bool{}
	}
	c := make(chan struct{}, 1)
	f.waiting[folder][c] = true
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiting[folder], c)
		if len(f.waiting[folder]) == 0 {
			delete(f.waiting, folder)
			_ = f.watcher.Remove(folder) // which fails when the folder itself is gone
		}
	}, nil
}
