package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLog is the size in bytes from which a log is moved to NAME.1 when its child starts.
const maxLog = 8 << 20

// OpenLog opens a log file to append to, with mode 0600. A big one is moved to PATH.1 first.
func OpenLog(path string) (*os.File, error) {
	if st, err := os.Stat(path); err == nil && st.Size() >= maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("rotate log: %w", err)
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return f, nil
}

// Tail is the last lines of a log, indented under a line that names the file; empty when there is nothing to show.
func Tail(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 16 << 10
	if st, err := f.Stat(); err == nil && st.Size() > most {
		_, _ = f.Seek(-most, io.SeekEnd)
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	b = bytes.TrimSpace(b)
	if err != nil || len(b) == 0 {
		return ""
	}
	all := strings.Split(string(b), "\n")
	all = all[max(0, len(all)-lines):]
	return fmt.Sprintf("\n%s ends with:\n    %s", filepath.Base(path), strings.Join(all, "\n    "))
}
