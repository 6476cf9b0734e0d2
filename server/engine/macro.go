package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/server/run"
)

// The macros of KFP v1. Those that only a schedule gives a meaning to stay as they are in other runs.
var (
	macro    = regexp.MustCompile(`\[\[(RunUUID|Index|CurrentTime|ScheduledTime)(?:\.([^\]]*))?\]\]`)
	strftime = regexp.MustCompile(`\{\{\$\.(currentTime|scheduledTime)\.strftime\('([^']*)'\)\}\}`)
)

// timeLayout is how [[CurrentTime]] is written.
const timeLayout = "20060102150405"

// expandMacros replaces the macros in the values of all parameters.
func expandMacros(wf *wfv1.Workflow, o run.Options, now time.Time) {
	words := map[string]string{"RunUUID": o.RunID}
	times := map[string]time.Time{"CurrentTime": now.UTC()}
	if o.Tick != nil {
		words["Index"], times["ScheduledTime"] = strconv.FormatInt(o.Tick.Index, 10), o.Tick.At.UTC()
	}
	for i := range wf.Spec.Arguments.Parameters {
		p := &wf.Spec.Arguments.Parameters[i]
		if p.Value != nil {
			p.Value = wfv1.AnyStringPtr(expand(p.Value.String(), words, times))
		}
	}
}

// defaultBucket stands for the bucket of artifacts in the values of parameters. KFP's {{kfp-project-id}}, a project of Google's
// cloud, stays as it is, as with a KFP that has none.
const defaultBucket = "{{kfp-default-bucket}}"

// fillIn puts the bucket where the values of parameters ask for it.
func fillIn(wf *wfv1.Workflow, bucket string) {
	for i := range wf.Spec.Arguments.Parameters {
		if p := &wf.Spec.Arguments.Parameters[i]; p.Value != nil && bucket != "" {
			p.Value = wfv1.AnyStringPtr(strings.ReplaceAll(p.Value.String(), defaultBucket, bucket))
		}
	}
}

func expand(text string, words map[string]string, times map[string]time.Time) string {
	text = macro.ReplaceAllStringFunc(text, func(found string) string {
		parts := macro.FindStringSubmatch(found)
		if word, ok := words[parts[1]]; ok && parts[2] == "" {
			return word
		}
		at, ok := times[parts[1]]
		switch {
		case !ok:
			return found
		case parts[2] != "":
			return at.Format(parts[2])
		}
		return at.Format(timeLayout)
	})
	return strftime.ReplaceAllStringFunc(text, func(found string) string {
		parts := strftime.FindStringSubmatch(found)
		at, ok := times[strings.ToUpper(parts[1][:1])+parts[1][1:]]
		if !ok {
			return found
		}
		return formatC(parts[2], at)
	})
}

// layouts are the directives of C's strftime in terms of Go's time layouts.
var layouts = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'Z': "MST", 'z': "-0700",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'j': "002",
}

// formatC writes a time by C's strftime; directives that it does not know stay as they are.
func formatC(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch layout, ok := layouts[format[i]]; {
		case format[i] == '%':
			b.WriteByte('%')
		case format[i] == 's':
			fmt.Fprint(&b, t.Unix())
		case ok:
			b.WriteString(t.Format(layout))
		default:
			b.WriteByte('%')
			b.WriteByte(format[i])
		}
	}
	return b.String()
}
