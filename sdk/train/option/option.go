// Package option is the table of what a distributed job can be given.
//
// Package train writes each option of a job as a flag of the launcher, and the launcher reads the flags. argosy submit has flags
// for the same fields, argosy decompile makes fields of flags again, and docs/jobs.md lists them. All of them read this table, so
// an option is added in three places: here, as a field of train.Spec, and where the launcher heeds it.
package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Option is a row of the table: a field of train.Spec, and the flag by which the launcher gets it.
type Option struct {
	// Field is that of train.Spec, such as Git.Branch, or of train.Role where Role is true; empty for the step's name and for what
	// follows from other fields.
	Field string
	// Flag is the launcher's, without dashes; empty for a field that is the step's own. Two fields may share one.
	Flag string
	// Submit is the flag of argosy submit, and Short its letter; empty where package submit reads the field from other flags.
	Submit, Short string
	// Help says what it is in one line. A word in backquotes is the name of the value, as package pflag has it.
	Help string
	// Form is what a text of the option must be.
	Form Form
	// Unset is what holds where the option is not set; empty where that depends on the kind of job or on the cluster.
	Unset string
	// Always writes the flag also where the field is not set.
	Always bool
	// Required has the launcher refuse a job without it.
	Required bool
	// Role marks a field of a role's, whose flag takes ROLE=VALUE.
	Role bool
	// Kinds are the kinds of job that have the option, by their names on the launcher's command line: all unless set. Why tells
	// users of other kinds the reason.
	Kinds []string
	Why   string
}

// Of tells whether jobs of a kind have the option.
func (o *Option) Of(kind string) bool { return o.Kinds == nil || slices.Contains(o.Kinds, kind) }

// Allow refuses a value that jobs of the kind cannot have: any but Unset where they lack the option. Title is what people call the
// kind, such as MPIJob.
func (o *Option) Allow(kind, title, text string) error {
	if o.Of(kind) || text == o.Unset {
		return nil
	}
	return fmt.Errorf("%s does not have it: %s", Article(title), o.Why)
}

// AllowRestarts refuses pods that are to restart in their place but never may: the retries limit their restarts.
func AllowRestarts(policy, retries string) error {
	if policy != "OnFailure" || retries != "" && retries != "0" {
		return nil
	}
	return errors.New("OnFailure restarts a failed pod as often as the retries allow, and there are none: allow at least 1 retry, or leave the restart policy at Never")
}

// Article is the title of a kind of job with the article that goes before it in a sentence: an MPIJob, a TFJob.
func Article(title string) string {
	if strings.ContainsRune("MX", rune(title[0])) { // said em, ex
		return "an " + title
	}
	return "a " + title
}

// Usage is Help with what holds unless the option is set.
func (o *Option) Usage() string {
	usage := o.Help
	if o.Unset != "" {
		usage += " (default " + o.Unset + ")"
	}
	if o.Form.Many {
		usage += "; may be repeated"
	}
	return usage
}

// ByFlag is the first option that the launcher gets by a flag; nil where there is none.
func ByFlag(flag string) *Option {
	for i := range Table {
		if Table[i].Flag == flag {
			return &Table[i]
		}
	}
	return nil
}
