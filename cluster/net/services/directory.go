// Package services maps the cluster's Services to their pods, and forwards
// connections to a Service's address to one of these pods.
package services

import (
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Key names a Service.
type Key struct{ Namespace, Name string }

// Service is what its clients depend on.
type Service struct {
	Key
	ClusterIP    netip.Addr // not valid when it is headless or a name for something else
	ExternalName string     // the name it stands for; empty for others
	Ports        []Port
	Affinity     time.Duration // for which a client keeps its endpoint; 0 means not at all
}

// Headless says whether its name stands for its endpoints.
func (s Service) Headless() bool { return !s.ClusterIP.IsValid() && s.ExternalName == "" }

// Port is a port of a Service.
type Port struct {
	Name     string
	Protocol corev1.Protocol
	Port     uint16
	NodePort uint16 // 0 when it has none
}

// Endpoint is an address behind a Service.
type Endpoint struct {
	Addr     netip.Addr
	Hostname string // empty unless the pod has a subdomain
	Ports    map[PortKey]uint16
}

// PortKey names a port of an endpoint; it is that of a Service's port.
type PortKey struct {
	Name     string
	Protocol corev1.Protocol
}

// Directory is what the API says about Services and their endpoints.
type Directory struct {
	mu        sync.RWMutex
	services  map[Key]Service
	addresses map[netip.Addr]Key         // of Services
	slices    map[Key]map[Key][]Endpoint // ready endpoints of each slice, by Service
	owners    map[Key]Key                // Service of each slice
	changed   chan struct{}              // holds a token when something is new
	synced    map[string]bool            // kinds that have been read
	ready     chan struct{}              // closed when both have
	announced bool
}

func newDirectory() *Directory {
	return &Directory{
		services: map[Key]Service{}, addresses: map[netip.Addr]Key{}, slices: map[Key]map[Key][]Endpoint{}, owners: map[Key]Key{},
		changed: make(chan struct{}, 1), synced: map[string]bool{}, ready: make(chan struct{}),
	}
}

// Ready is closed once the directory knows what there was when it was started.
func (d *Directory) Ready() <-chan struct{} { return d.ready }

// Service looks a Service up.
func (d *Directory) Service(k Key) (Service, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	s, ok := d.services[k]
	return s, ok
}

// At is the Service with a cluster address.
func (d *Directory) At(a netip.Addr) (Key, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	k, ok := d.addresses[a]
	return k, ok
}

// HasNamespace says whether a Service lives in the namespace.
func (d *Directory) HasNamespace(name string) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for k := range d.services {
		if k.Namespace == name {
			return true
		}
	}
	return false
}

// Endpoints are the ready endpoints of a Service.
func (d *Directory) Endpoints(k Key) []Endpoint {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var all []Endpoint
	for _, part := range d.slices[k] {
		all = append(all, part...)
	}
	return all
}

// Behind are the Services that have an endpoint with the address.
func (d *Directory) Behind(a netip.Addr) map[Key]Endpoint {
	d.mu.RLock()
	defer d.mu.RUnlock()
	found := map[Key]Endpoint{}
	for k, parts := range d.slices {
		for _, part := range parts {
			for _, e := range part {
				if e.Addr == a {
					found[k] = e
				}
			}
		}
	}
	return found
}

// addressed are the Services that have an address of their own.
func (d *Directory) addressed() []Service {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var all []Service
	for _, s := range d.services {
		if s.ClusterIP.IsValid() {
			all = append(all, s)
		}
	}
	return all
}

func (d *Directory) setService(s Service) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropService(s.Key)
	d.services[s.Key] = s
	if s.ClusterIP.IsValid() {
		d.addresses[s.ClusterIP] = s.Key
	}
	d.touch()
}

func (d *Directory) removeService(k Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropService(k)
	d.touch()
}

func (d *Directory) dropService(k Key) {
	if old, ok := d.services[k]; ok {
		delete(d.services, k)
		if d.addresses[old.ClusterIP] == k {
			delete(d.addresses, old.ClusterIP)
		}
	}
}

// setSlice replaces what a slice says about a Service.
func (d *Directory) setSlice(slice, service Key, endpoints []Endpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropSlice(slice)
	if d.slices[service] == nil {
		d.slices[service] = map[Key][]Endpoint{}
	}
	d.slices[service][slice], d.owners[slice] = endpoints, service
	d.touch()
}

func (d *Directory) removeSlice(slice Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropSlice(slice)
	d.touch()
}

func (d *Directory) dropSlice(slice Key) {
	owner, ok := d.owners[slice]
	if !ok {
		return
	}
	delete(d.owners, slice)
	delete(d.slices[owner], slice)
	if len(d.slices[owner]) == 0 {
		delete(d.slices, owner)
	}
}

// touch tells the proxy. The lock is held.
func (d *Directory) touch() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// read marks a kind as read.
func (d *Directory) read(kind string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced[kind] = true
	if len(d.synced) == 2 && !d.announced {
		d.announced = true
		close(d.ready)
	}
	d.touch()
}
