package logs

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

var ErrNone = errors.New("is waiting to start, or has no log")

// chooseLog finds the log of a container's latest life, or of the one before, among the logs of a pod.
func Choose(folder, container string, previous bool) (podlog.Life, error) {
	if container != filepath.Base(container) {
		return podlog.Life{}, errors.New("does not exist")
	}
	folder = filepath.Join(folder, container)
	lives, err := podlog.Lives(folder)
	if err != nil {
		return podlog.Life{}, err
	}
	if previous && len(lives) == 1 {
		return podlog.Life{}, errors.New("was not restarted, there is no previous log")
	}
	if previous && len(lives) > 0 {
		lives = lives[:len(lives)-1]
	}
	if len(lives) == 0 {
		return podlog.Life{}, ErrNone
	}
	return podlog.Life{Folder: folder, Number: lives[len(lives)-1]}, nil
}

// parseLogOptions reads the query that the apiserver makes of PodLogOptions.
func ParseOptions(r *http.Request) (o Options, previous bool, err error) {
	q := r.URL.Query()
	o.tail = -1
	number := func(name string, least int64, into *int64) {
		if s := q.Get(name); s != "" && err == nil {
			n, perr := strconv.ParseInt(s, 10, 64)
			if perr != nil || n < least {
				err = fmt.Errorf("%s must be a whole number of at least %d, not %q", name, least, s)
			}
			*into = n
		}
	}
	truth := func(name string, into *bool) {
		if s := q.Get(name); s != "" && err == nil {
			if *into, err = strconv.ParseBool(s); err != nil {
				err = fmt.Errorf("%s must be true or false, not %q", name, s)
			}
		}
	}
	var seconds int64
	number("tailLines", 0, &o.tail)
	number("limitBytes", 1, &o.limit)
	number("sinceSeconds", 1, &seconds)
	truth("follow", &o.follow)
	truth("timestamps", &o.timestamps)
	truth("previous", &previous)
	if seconds > 0 {
		o.since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if s := q.Get("sinceTime"); s != "" && err == nil {
		if o.since, err = time.Parse(time.RFC3339, s); err != nil {
			err = fmt.Errorf("sinceTime must be a time like 2006-01-02T15:04:05Z, not %q", s)
		}
	}
	return o, previous, err
}
