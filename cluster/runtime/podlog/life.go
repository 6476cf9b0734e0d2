package podlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Life is one run of a container.
type Life struct {
	Folder string // the container's folder of logs
	Number int
}

// Exit is how a life ended.
type Exit struct {
	Code     int       // 128 + signal where a signal ended it
	Signal   int       `json:",omitempty"`
	Started  time.Time // when the command began to run; zero when it never did
	Finished time.Time
	TooMany  int    `json:",omitempty"` // it was ended for more processes than this
	OOM      bool   `json:",omitempty"` // the memory limit ended it
	Fault    string `json:",omitempty"` // why the command could not be started
	Lost     bool   `json:",omitempty"` // the end was not seen; the code is made up
}

// Lives are the numbers of a container's lives, lowest first. A container that never ran has none.
func Lives(folder string) ([]int, error) {
	names, err := list(folder)
	var lives []int
	for _, name := range names {
		number, rest, _ := strings.Cut(name, ".")
		n, err := strconv.Atoi(number)
		if err == nil && (rest == "exit" || strings.HasSuffix(rest, ".log")) {
			lives = append(lives, n)
		}
	}
	slices.Sort(lives)
	return slices.Compact(lives), err
}

func list(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// Segments are the numbers of the segments that are there, lowest first.
func (l Life) Segments() ([]int, error) {
	names, err := list(l.Folder)
	var segments []int
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, strconv.Itoa(l.Number)+".")
		number, isLog := strings.CutSuffix(rest, ".log")
		if n, err := strconv.Atoi(number); ok && isLog && err == nil {
			segments = append(segments, n)
		}
	}
	slices.Sort(segments)
	return segments, err
}

// Segment is the path of a segment.
func (l Life) Segment(n int) string {
	return filepath.Join(l.Folder, fmt.Sprintf("%d.%d.log", l.Number, n))
}

func (l Life) exitFile() string { return filepath.Join(l.Folder, strconv.Itoa(l.Number)+".exit") }

// Over says whether the life has ended and its log is complete.
func (l Life) Over() bool {
	_, err := os.Stat(l.exitFile())
	return err == nil
}

// Forget removes what was said in the life, not how it ended.
func (l Life) Forget() error {
	segments, err := l.Segments()
	for _, n := range segments {
		err = errors.Join(err, os.Remove(l.Segment(n)))
	}
	return err
}

// ReadExit returns how the life ended; fs.ErrNotExist where it has not.
func (l Life) ReadExit() (Exit, error) {
	var e Exit
	b, err := os.ReadFile(l.exitFile())
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("%s: %w", l.exitFile(), err)
	}
	return e, nil
}

// WriteExit ends the life. The file appears whole.
func (l Life) WriteExit(e Exit) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.Folder, 0o755); err != nil {
		return err
	}
	tmp := l.exitFile() + ".new"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, l.exitFile())
}
