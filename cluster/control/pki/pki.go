// Package pki creates the keys and certificates of an embedded cluster: one
// authority, created at the first start, and the certificates that it signs.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"time"
)

// Users that have a client certificate, by the name of their files.
const (
	Admin             = "admin"
	Kubelet           = "kubelet-client"
	ControllerManager = "controller-manager"
	Scheduler         = "scheduler"
	Argo              = "argo"
	MPIOperator       = "mpi-operator"
	KubeletClient     = "apiserver-kubelet-client" // the apiserver towards the kubelet

	TrainingOperator   = "training-operator"
	VolcanoScheduler   = "volcano-scheduler"
	VolcanoControllers = "volcano-controllers"
)

// Common names that RBAC binds rights to.
const (
	KubeletUser           = "argosy:kubelet"
	ControllerManagerUser = "system:kube-controller-manager"
	SchedulerUser         = "system:kube-scheduler" // its rights come with Kubernetes
	ArgoUser              = "argosy:argo"
	MPIOperatorUser       = "argosy:mpi-operator"

	TrainingOperatorUser   = "argosy:training-operator"
	VolcanoSchedulerUser   = "argosy:volcano-scheduler"
	VolcanoControllersUser = "argosy:volcano-controllers"

	// KubeletClientUser is the only client that the kubelet's HTTPS port serves.
	KubeletClientUser = "kube-apiserver-kubelet-client"
)

const (
	lifetime = 10 * 365 * 24 * time.Hour
	renewAt  = 30 * 24 * time.Hour // left of a certificate's life when a start renews it
)

// leaf is a certificate to be signed by the authority.
type leaf struct {
	name     string // of its files: name.crt and name.key
	user     string
	groups   []string
	usage    x509.ExtKeyUsage
	dnsNames []string
	ips      []net.IP
}

var leaves = []leaf{
	{
		name: "apiserver", user: "kube-apiserver", usage: x509.ExtKeyUsageServerAuth,
		dnsNames: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster", "kubernetes.default.svc.cluster.local",
		},
		// This machine, the pod network's gateway, and the service `kubernetes`.
		ips: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 88, 0, 1), net.IPv4(10, 96, 0, 1)},
	},
	{
		name: "kubelet", user: "kubelet", usage: x509.ExtKeyUsageServerAuth,
		dnsNames: []string{"localhost"}, ips: []net.IP{net.IPv4(127, 0, 0, 1)},
	},
	{name: Admin, user: "argosy:admin", groups: []string{"system:masters"}, usage: x509.ExtKeyUsageClientAuth},
	{name: Kubelet, user: KubeletUser, usage: x509.ExtKeyUsageClientAuth},
	{name: ControllerManager, user: ControllerManagerUser, usage: x509.ExtKeyUsageClientAuth},
	{name: Scheduler, user: SchedulerUser, usage: x509.ExtKeyUsageClientAuth},
	{name: Argo, user: ArgoUser, usage: x509.ExtKeyUsageClientAuth},
	{name: MPIOperator, user: MPIOperatorUser, usage: x509.ExtKeyUsageClientAuth},
	{name: TrainingOperator, user: TrainingOperatorUser, usage: x509.ExtKeyUsageClientAuth},
	{name: VolcanoScheduler, user: VolcanoSchedulerUser, usage: x509.ExtKeyUsageClientAuth},
	{name: VolcanoControllers, user: VolcanoControllersUser, usage: x509.ExtKeyUsageClientAuth},
	{name: KubeletClient, user: KubeletClientUser, usage: x509.ExtKeyUsageClientAuth},
}

// Ensure makes in dir what is missing, broken or near its end: ca.crt and
// ca.key, a pair for each leaf, and the service-account key pair sa.key and
// sa.pub. Every file has mode 0600.
func Ensure(dir string, now time.Time) error {
	ca, caKey, err := ensureCA(dir, now)
	if err != nil {
		return fmt.Errorf("certificate authority: %w", err)
	}
	for _, l := range leaves {
		if err := l.ensure(dir, ca, caKey, now); err != nil {
			return fmt.Errorf("certificate %s: %w", l.name, err)
		}
	}
	if err := ensureServiceAccountKey(dir); err != nil {
		return fmt.Errorf("service-account key: %w", err)
	}
	return nil
}

func ensureCA(dir string, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	if crt, key, err := readPair(dir, "ca"); err == nil && crt.NotAfter.Sub(now) > renewAt {
		return crt, key, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	tmpl := template(pkix.Name{CommonName: "argosy embedded cluster"}, now)
	tmpl.IsCA, tmpl.BasicConstraintsValid = true, true
	tmpl.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	if err := writePair(dir, "ca", tmpl, tmpl, key, key); err != nil {
		return nil, nil, err
	}
	return readPair(dir, "ca")
}

func (l leaf) ensure(dir string, ca *x509.Certificate, caKey *ecdsa.PrivateKey, now time.Time) error {
	if crt, _, err := readPair(dir, l.name); err == nil && l.holds(crt, ca, now) {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	tmpl := template(pkix.Name{CommonName: l.user, Organization: l.groups}, now)
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{l.usage}
	tmpl.DNSNames, tmpl.IPAddresses = l.dnsNames, l.ips
	return writePair(dir, l.name, tmpl, ca, key, caKey)
}

// holds says whether a certificate found on disk is still the one wanted.
func (l leaf) holds(crt, ca *x509.Certificate, now time.Time) bool {
	return crt.CheckSignatureFrom(ca) == nil &&
		crt.NotAfter.Sub(now) > renewAt &&
		crt.Subject.CommonName == l.user &&
		slices.Equal(crt.Subject.Organization, l.groups) &&
		slices.Equal(crt.DNSNames, l.dnsNames) &&
		slices.EqualFunc(crt.IPAddresses, l.ips, net.IP.Equal)
}

func template(subject pkix.Name, now time.Time) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // crypto/rand never fails
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour), // clocks of virtual machines jump
		NotAfter:     now.Add(lifetime),
	}
}

// File is the path of a file of the folder, for example File(dir, Admin, "crt").
func File(dir, name, kind string) string { return filepath.Join(dir, name+"."+kind) }
