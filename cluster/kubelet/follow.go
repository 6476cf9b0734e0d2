package kubelet

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

	"github.com/argosy-ml/argosy/cluster/podlog"
)

// logReader reads a log from a place on, across its segments.
type logReader struct {
	life    podlog.Life
	segment int
	at      int64
	take    func(podlog.Entry) error
	pause   func() // called when nothing more is there for now; may be nil

	partial []byte // the beginning of an entry whose rest is not in the file yet
}

// read takes all entries there are. Before a segment is left, it is read once more after its successor was seen: then
// nothing is added to it any more.
func (r *logReader) read() error {
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

func (r *logReader) readSegment() error {
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

// follow reads until the log has ended or the context does, which is no error: the reader went away.
func (r *logReader) follow(ctx context.Context, watched *folders) error {
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

// folders tells of changes in folders. All share one inotify instance, of which a user has few.
type folders struct {
	watcher *fsnotify.Watcher
	ended   chan struct{}

	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool // by folder
}

func watchFolders() (*folders, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch logs: %w (the limit is the sysctl fs.inotify.max_user_instances)", err)
	}
	f := &folders{watcher: w, ended: make(chan struct{}), waiting: map[string]map[chan struct{}]bool{}}
	go f.run()
	return f, nil
}

func (f *folders) close() {
	_ = f.watcher.Close()
	<-f.ended
}

func (f *folders) run() {
	defer close(f.ended)
	for {
		select {
		case e, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			f.tell(filepath.Dir(e.Name))
		case _, ok := <-f.watcher.Errors: // events were lost: whoever waits looks for himself
			if !ok {
				return
			}
			for _, folder := range f.watcher.WatchList() {
				f.tell(folder)
			}
		}
	}
}

func (f *folders) tell(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.waiting[folder] {
		select {
		case c <- struct{}{}:
		default: // told, and has not looked yet
		}
	}
}

// watch returns a channel that gets a token after changes in the folder, until release is called.
func (f *folders) watch(folder string) (changed <-chan struct{}, release func(), err error) {
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
			_ = f.watcher.Remove(folder) // it may have been removed itself
		}
	}, nil
}
