package engine

import (
	"fmt"
	"net/url"
	"regexp"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

// notLoaded is what Argo says of a step for which a file could not be fetched: by a name, which tells the user nothing of a file
// from elsewhere.
var notLoaded = regexp.MustCompile(`artifact (\S+) failed to load: `)

// told is the message of a node, and where the file lies that could not be fetched.
func told(n *wfv1.NodeStatus) string {
	m := notLoaded.FindStringSubmatch(n.Message)
	if m == nil || n.Inputs == nil {
		return n.Message
	}
	for i := range n.Inputs.Artifacts {
		if a := &n.Inputs.Artifacts[i]; a.Name == m[1] {
			if where := location(a); where != "" {
				return fmt.Sprintf("%s (%s is %s)", n.Message, a.Name, where)
			}
		}
	}
	return n.Message
}

// location is where an artifact comes from, empty where that is not known.
func location(a *wfv1.Artifact) string {
	switch {
	case a.HTTP != nil:
		return bare(a.HTTP.URL)
	case a.Git != nil && a.Git.Revision != "":
		return fmt.Sprintf("%s at %s", bare(a.Git.Repo), a.Git.Revision)
	case a.Git != nil:
		return bare(a.Git.Repo)
	case a.S3 != nil && a.S3.Key != "":
		return "key " + a.S3.Key
	}
	return ""
}

// bare is an address without what may be secret in it: a password, or the query of a signed URL.
func bare(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
