package job

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// hash tells the steps of all workflows apart.
func (id Identity) hash() string {
	sum := sha256.Sum256([]byte(id.Workflow + "/" + id.Node))
	return hex.EncodeToString(sum[:5])
}

// number is one below limit, always the same for a step of a workflow.
func (id Identity) number(limit uint32) int {
	sum := sha256.Sum256([]byte(id.Workflow + "/" + id.Node))
	return int(binary.BigEndian.Uint32(sum[:]) % limit)
}

// run is the id of the run that the workflow carries out; empty if no server started it.
func (id Identity) run() string {
	if id.Pod == nil {
		return ""
	}
	return id.Pod.Labels[labelRun]
}

// name is the job's name: always the same for a step of a workflow, and short
// enough that the names of its pods are host names.
func (s *Spec) name(id Identity) string {
	tail := "-" + id.hash()
	head := label(s.Step)
	if room := validation.DNS1035LabelMaxLength - len(tail) - s.podSuffix(); len(head) > room {
		head = strings.TrimRight(head[:max(room, 1)], "-")
	}
	return head + tail
}

// label makes a DNS-1035 label of any text.
func label(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
	clean = strings.Trim(clean, "-")
	if clean == "" {
		return "job"
	}
	if clean[0] >= '0' && clean[0] <= '9' {
		return "job-" + clean
	}
	return clean
}
