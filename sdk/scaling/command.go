package scaling

import (
	"regexp"
	"strconv"
	"strings"
)

// SweepCommand begins the description of an experiment that a sweep made: the rest of its command line follows.
const SweepCommand = "argosy sweep "

// Quote writes a word as a shell takes it.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var (
	repeatsFlag = regexp.MustCompile(`( --repeats )(\d+)`)
	// repeatOf finds the repeat in the name of a run of a sweep, EXPERIMENT.CELL.REPEAT, with the try where it was made again.
	repeatOf = regexp.MustCompile(`\.(\d+)(?:-\d+)?$`)
)

// again is the command that makes as many runs as there are now: a sweep can go on with more repeats than it began with.
func again(command string, runs []Run) string {
	flag := repeatsFlag.FindStringSubmatch(command)
	if !strings.HasPrefix(command, SweepCommand) || flag == nil {
		return command
	}
	most, _ := strconv.Atoi(flag[2])
	for _, r := range runs {
		if g := repeatOf.FindStringSubmatch(r.Name); g != nil {
			n, _ := strconv.Atoi(g[1])
			most = max(most, n)
		}
	}
	return repeatsFlag.ReplaceAllString(command, "${1}"+strconv.Itoa(most))
}
