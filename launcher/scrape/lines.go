package scrape

import "io"

// LauncherSays begins the lines in a step's log that the launcher prints itself, between those of the job.
const LauncherSays = "argosy: "

// Lines returns a writer that splits a log into lines, as a Scanner does, and calls f for each line with the rank that printed it, without
// rank tag and colours. The line is valid until f returns. Close passes on a last line without an end.
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
