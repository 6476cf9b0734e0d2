package run

import (
	"context"
	"regexp"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
)

const maxLabels = 64

// What Kubernetes allows names and values of labels.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
var (
	labelPart   = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelDomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
)

// SetLabels sets the labels of a run in place of those it has, and gives the run.
func (s *Changer) SetLabels(ctx context.Context, id string, labels map[string]string) (Run, error) {
	if len(labels) > maxLabels {
		return Run{}, apierr.New(apierr.Invalid, "there are %d labels; a run can have %d", len(labels), maxLabels)
	}
	for name, value := range labels {
		domain, part, prefixed := strings.Cut(name, "/")
		if !prefixed {
			part = domain
		}
		if !labelPart.MatchString(part) || prefixed && !labelDomain.MatchString(domain) {
			return Run{}, apierr.New(apierr.Invalid, "label name %q: it can have up to 63 letters, digits, '-', '_' and '.', begin and end with one of the first two, and have a domain and '/' in front", name)
		}
		if value != "" && !labelPart.MatchString(value) {
			return Run{}, apierr.New(apierr.Invalid, "label %s=%q: a value can have up to 63 letters, digits, '-', '_' and '.', and begins and ends with one of the first two", name, value)
		}
	}
	if err := s.c.Store.SetLabels(ctx, id, labels); err != nil {
		return Run{}, err
	}
	s.c.Feed.Publish(id)
	return s.c.Store.Run(ctx, id)
}
