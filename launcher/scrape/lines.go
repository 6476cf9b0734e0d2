package scrape

import "io"

// LauncherSays begins the lines in a step's log that the launcher prints itself, between those of the job.
const LauncherSays = "argosy: "

// Lines gives a writer that takes a log apart, as a Scanner does, and hands each line to f with the rank that printed it, without
// its tag and colours. The line is valid until f returns. Close hands over a last line that has no end.
func Lines(f func(rank int, line []byte)) io.WriteCloser { return lines{newSplitter(f)} }

type lines struct{ split *splitter }

func (l lines) Write(p []byte) (int, error) {
	l.split.write(p)
	return len(p), nil
}

func (l lines) Close() error {
	l.split.close()
	return nil
}
