// Package survey reads nodes, claims and storage classes for package capacity.
package survey

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1client "k8s.io/client-go/kubernetes/typed/storage/v1"

	"github.com/argosy-ml/argosy/launcher/capacity"
)

// Survey compares demands with one cluster.
type Survey struct {
	Core    corev1client.CoreV1Interface
	Storage storagev1client.StorageV1Interface
	// Keep is how long the nodes are remembered, or that they cannot be read; zero reads them each time.
	Keep time.Duration

	mu    sync.Mutex
	nodes []corev1.Node
	err   error
	at    time.Time
}

// Short returns the part of a demand that the cluster can never hold; nil if it may hold all that this account can see. It adds the claims
// of the demand's pods to the demand's own. The error is that of reading the nodes; volumes that the account may not read are not checked.
func (s *Survey) Short(ctx context.Context, namespace string, d capacity.Demand) (*capacity.Shortage, error) {
	nodes, err := s.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	c := capacity.Cluster{Nodes: nodes}
	if d.Claims, err = s.claims(ctx, namespace, d); err == nil && len(d.Claims) > 0 {
		err = s.volumes(ctx, &c)
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("read what volumes there are: %w", err)
	}
	return c.Short(d), nil
}

// Nodes reads the nodes of the cluster.
func (s *Survey) Nodes(ctx context.Context) ([]corev1.Node, error) { return s.read(ctx) }

func (s *Survey) read(ctx context.Context) ([]corev1.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Keep > 0 && time.Since(s.at) < s.Keep {
		return s.nodes, s.err
	}
	list, err := s.Core.Nodes().List(ctx, metav1.ListOptions{})
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return nil, context.Canceled // the survey stopped; the cluster is not at fault
	}
	s.nodes, s.err, s.at = nil, err, time.Now()
	if err == nil {
		s.nodes = list.Items
	}
	return s.nodes, s.err
}

// volumes reads what volumes can be made, and were made.
func (s *Survey) volumes(ctx context.Context, c *capacity.Cluster) error {
	classes, err := s.Storage.StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	volumes, err := s.Core.PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	c.Classes, c.Volumes = append(c.Classes, classes.Items...), volumes.Items
	return nil
}

// claims are those of a demand, with those that its pods mount and that have no volume yet.
func (s *Survey) claims(ctx context.Context, namespace string, d capacity.Demand) ([]capacity.Claim, error) {
	claims := d.Claims[:len(d.Claims):len(d.Claims)]
	seen := map[string]bool{}
	for _, g := range d.Groups {
		for _, v := range g.Pod.Volumes {
			switch {
			case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
				claims = append(claims, capacity.Claim{Name: v.Name, Spec: v.Ephemeral.VolumeClaimTemplate.Spec})
			case v.PersistentVolumeClaim != nil && !seen[v.PersistentVolumeClaim.ClaimName]:
				name := v.PersistentVolumeClaim.ClaimName
				seen[name] = true
				claim, err := s.Core.PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
				switch {
				case apierrors.IsNotFound(err): // it may come
				case err != nil:
					return nil, err
				case claim.Spec.VolumeName == "" && claim.Status.Phase != corev1.ClaimBound:
					claims = append(claims, capacity.Claim{Name: name, Spec: claim.Spec})
				}
			}
		}
	}
	return claims, nil
}
