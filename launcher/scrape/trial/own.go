package trial

import (
	"bufio"
	"bytes"
	"io"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// JobOnly returns a log whose lines by the launcher are emptied: in a step's log they repeat the metrics at the end.
func JobOnly(log io.Reader) io.Reader { return &jobOnly{from: bufio.NewReaderSize(log, 64<<10)} }

type jobOnly struct {
	from *bufio.Reader
	left []byte // of a line, not handed on yet
	mid  bool   // the next bytes go on with a line
	own  bool   // which is the launcher's
}

func (j *jobOnly) Read(p []byte) (int, error) {
	for len(j.left) == 0 {
		line, err := j.from.ReadSlice('\n')
		if len(line) == 0 {
			return 0, err
		}
		if !j.mid {
			j.own = bytes.HasPrefix(line, []byte(scrape.LauncherSays))
		}
		j.mid = line[len(line)-1] != '\n'
		if j.left = line; j.own {
			j.left = bytes.TrimLeftFunc(line, func(r rune) bool { return r != '\n' })
		}
	}
	n := copy(p, j.left)
	j.left = j.left[n:]
	return n, nil
}
