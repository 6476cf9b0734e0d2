package services

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Watch follows the Services and EndpointSlices of all namespaces until the
// context ends. Only what the directory keeps of them stays in memory. The
// returned function waits for the end.
func Watch(ctx context.Context, cfg *rest.Config) (*Directory, func(), error) {
	cfg = rest.CopyConfig(cfg)
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, nil, err
	}
	d := newDirectory()
	var work sync.WaitGroup
	follow := func(c cache.Getter, resource string, object any, s cache.ReflectorStore) {
		lw := cache.NewListWatchFromClient(c, resource, metav1.NamespaceAll, fields.Everything())
		r := cache.NewReflectorWithOptions(lw, object, s, cache.ReflectorOptions{Name: resource})
		work.Go(func() { r.RunWithContext(ctx) })
	}
	follow(client.CoreV1().RESTClient(), "services", &corev1.Service{}, &store[*corev1.Service]{d: d, kind: "services", set: d.takeService, remove: d.removeService})
	follow(client.DiscoveryV1().RESTClient(), "endpointslices", &discoveryv1.EndpointSlice{},
		&store[*discoveryv1.EndpointSlice]{d: d, kind: "endpointslices", set: d.takeSlice, remove: d.removeSlice})
	return d, work.Wait, nil
}

// Known is a fixed directory of these objects.
func Known(all []*corev1.Service, slices []*discoveryv1.EndpointSlice) *Directory {
	d := newDirectory()
	for _, o := range all {
		d.takeService(o)
	}
	for _, o := range slices {
		d.takeSlice(o)
	}
	d.read("services")
	d.read("endpointslices")
	return d
}

// store is where a reflector puts objects of one kind: it passes on what the
// directory needs and remembers their names only.
type store[T metav1.Object] struct {
	d      *Directory
	kind   string
	set    func(T)
	remove func(Key)
	known  map[Key]bool
}

func (s *store[T]) Add(o any) error {
	object, ok := o.(T)
	if !ok {
		return fmt.Errorf("%s: unexpected %T", s.kind, o)
	}
	if s.known == nil {
		s.known = map[Key]bool{}
	}
	s.known[Key{object.GetNamespace(), object.GetName()}] = true
	s.set(object)
	return nil
}

func (s *store[T]) Update(o any) error { return s.Add(o) }

func (s *store[T]) Delete(o any) error {
	object, ok := o.(T)
	if !ok {
		return fmt.Errorf("%s: unexpected %T", s.kind, o)
	}
	k := Key{object.GetNamespace(), object.GetName()}
	delete(s.known, k)
	s.remove(k)
	return nil
}

// Replace is called with all objects, after the start and when the watch was lost.
func (s *store[T]) Replace(all []any, _ string) error {
	old := s.known
	s.known = map[Key]bool{}
	for _, o := range all {
		if err := s.Add(o); err != nil {
			return err
		}
	}
	for k := range old {
		if !s.known[k] {
			s.remove(k)
		}
	}
	s.d.read(s.kind)
	return nil
}

func (s *store[T]) Resync() error { return nil }

func (d *Directory) takeService(o *corev1.Service) {
	s := Service{Key: Key{o.Namespace, o.Name}}
	if o.Spec.Type == corev1.ServiceTypeExternalName {
		s.ExternalName = o.Spec.ExternalName
	} else {
		s.ClusterIP, _ = netip.ParseAddr(o.Spec.ClusterIP) // "None" gives the zero address
	}
	for _, p := range o.Spec.Ports {
		protocol := p.Protocol
		if protocol == "" {
			protocol = corev1.ProtocolTCP
		}
		s.Ports = append(s.Ports, Port{Name: p.Name, Protocol: protocol, Port: uint16(p.Port), NodePort: uint16(p.NodePort)})
	}
	if o.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		s.Affinity = time.Duration(corev1.DefaultClientIPServiceAffinitySeconds) * time.Second
		if c := o.Spec.SessionAffinityConfig; c != nil && c.ClientIP != nil && c.ClientIP.TimeoutSeconds != nil {
			s.Affinity = time.Duration(*c.ClientIP.TimeoutSeconds) * time.Second
		}
	}
	d.setService(s)
}

func (d *Directory) takeSlice(o *discoveryv1.EndpointSlice) {
	ports := map[PortKey]uint16{}
	for _, p := range o.Ports {
		if p.Port == nil {
			continue
		}
		k := PortKey{Protocol: corev1.ProtocolTCP}
		if p.Name != nil {
			k.Name = *p.Name
		}
		if p.Protocol != nil {
			k.Protocol = *p.Protocol
		}
		ports[k] = uint16(*p.Port)
	}
	var endpoints []Endpoint
	for _, e := range o.Endpoints {
		// Whether addresses of pods that are not ready are published is a matter of the controller, which then calls them ready.
		if e.Conditions.Ready != nil && !*e.Conditions.Ready {
			continue
		}
		for _, a := range e.Addresses {
			addr, err := netip.ParseAddr(a)
			if err != nil || !addr.Is4() {
				continue // the pods' network has no other
			}
			endpoint := Endpoint{Addr: addr, Ports: ports}
			if e.Hostname != nil {
				endpoint.Hostname = *e.Hostname
			}
			endpoints = append(endpoints, endpoint)
		}
	}
	d.setSlice(Key{o.Namespace, o.Name}, Key{o.Namespace, o.Labels[discoveryv1.LabelServiceName]}, endpoints)
}
