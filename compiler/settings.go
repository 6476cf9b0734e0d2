package compiler

import (
	"fmt"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// set writes what concerns the pipeline as a whole.
func (wf *workflow) set(s graph.Settings) error {
	spec := &wf.Spec
	if s.ServiceAccount != "" {
		spec.ServiceAccountName = s.ServiceAccount
	}
	spec.Parallelism = s.Parallelism
	timeout, err := wholeSeconds(s.Timeout)
	if err != nil {
		return err
	}
	if timeout != nil {
		spec.ActiveDeadlineSeconds = *timeout
	}
	if s.TTL != nil {
		spec.TTLStrategy = &ttlStrategy{}
		if spec.TTLStrategy.Success, err = wholeSeconds(s.TTL.Success); err != nil {
			return err
		}
		if spec.TTLStrategy.Failure, err = wholeSeconds(s.TTL.Failure); err != nil {
			return err
		}
	}
	for _, name := range s.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, named{text(name)})
	}
	for _, c := range s.Claims {
		spec.VolumeClaimTemplates = append(spec.VolumeClaimTemplates, claimTemplate{
			Metadata: claimMetadata{c.Name},
			Spec: claimSpec{
				AccessModes:  []string{c.Mode},
				StorageClass: c.StorageClass,
				Resources:    resources{Requests: map[string]text{"storage": text(c.Size)}},
			},
		})
	}
	for _, p := range s.Labels {
		if wf.Metadata.Labels == nil {
			wf.Metadata.Labels = map[string]text{}
		}
		wf.Metadata.Labels[p.Name] = render(p.Value, nil)
	}
	for _, p := range s.Annotations {
		wf.Metadata.Annotations[p.Name] = render(p.Value, nil)
	}
	return nil
}

// wholeSeconds reads a duration; nil for none.
func wholeSeconds(d string) (*int64, error) {
	if d == "" {
		return nil, nil
	}
	t, err := time.ParseDuration(d)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration: %w", d, err)
	}
	s := int64(t / time.Second)
	return &s, nil
}
