// Package plane is the child that stores and serves the cluster's
// objects: etcd and kube-apiserver in one process.
package plane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/argosy-ml/argosy/cluster/control/heap"
	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/host/readiness"
)

// ServiceRange is where Services get their addresses from.
const ServiceRange = "10.96.0.0/16"

// Admission plugins without a use here: the cluster signs no certificates, and the sandbox bounds what a pod may do.
// TaintNodesByCondition would keep pods from a new node until a controller has looked at it.
var unusedAdmission = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest",
	"DefaultIngressClass", "MutatingAdmissionWebhook", "PodSecurity", "RuntimeClass",
	"TaintNodesByCondition", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
}

// API groups that are of no use here. networking.k8s.io/v1 must stay: without it readiness takes 20 seconds longer.
var unusedAPIs = []string{
	"autoscaling/v1=false", "autoscaling/v2=false", "certificates.k8s.io/v1=false",
	"flowcontrol.apiserver.k8s.io/v1=false", "node.k8s.io/v1=false", "resource.k8s.io/v1=false",
}

// Features that cost something while nothing happens, and serve others than a cluster with one apiserver on one machine.
var unusedFeatures = []string{
	"APIServerIdentity",         // a lease, renewed every ten seconds, tells other apiservers of this one
	"DetectCacheInconsistency",  // reads all of etcd every five minutes, to look for faults of the watch cache
	"ListFromCacheSnapshot",     // keeps versions of all objects, for the pages of very long lists
	"SizeBasedListCostEstimate", // keeps every object's size, for priority and fairness, which is off
}

// Kinds whose objects are few and change seldom, or are not asked for twice: a watch cache is a dozen goroutines and a timer of a
// second for each. Who watches them watches etcd.
var uncached = []string{
	"events",
	"endpoints", "limitranges", "podtemplates", "replicationcontrollers", "resourcequotas",
	"controllerrevisions.apps", "daemonsets.apps", "statefulsets.apps", "cronjobs.batch",
	"apiservices.apiregistration.k8s.io", "poddisruptionbudgets.policy", "priorityclasses.scheduling.k8s.io", "storageclasses.storage.k8s.io",
	"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
	"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
	"mutatingwebhookconfigurations.admissionregistration.k8s.io", "validatingwebhookconfigurations.admissionregistration.k8s.io",
	"validatingadmissionpolicies.admissionregistration.k8s.io", "validatingadmissionpolicybindings.admissionregistration.k8s.io",
	"ingresses.networking.k8s.io", "ingressclasses.networking.k8s.io", "ipaddresses.networking.k8s.io",
	"networkpolicies.networking.k8s.io", "servicecidrs.networking.k8s.io",
	"csidrivers.storage.k8s.io", "csinodes.storage.k8s.io", "csistoragecapacities.storage.k8s.io",
	"volumeattachments.storage.k8s.io", "volumeattributesclasses.storage.k8s.io",
}

// Command is the child `apiserver`. It serves on the listener inherited as file descriptor 3.
func Command() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "apiserver",
		Short:  "Run etcd and kube-apiserver",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.Open(dir)
			if err != nil {
				return err
			}
			listener, err := net.FileListener(os.NewFile(3, "apiserver"))
			if err != nil {
				return fmt.Errorf("file descriptor 3: %w; this command is started by `argosy-cluster up`", err)
			}
			return run(genericapiserver.SetupSignalContext(), h, listener)
		},
	}
	cmd.Flags().StringVar(&dir, "home", "", "data folder of the cluster")
	return cmd
}

func run(ctx context.Context, h home.Home, listener net.Listener) error {
	// etcd starts while the apiserver puts itself together, and ends after it.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stored := make(chan error, 1)
	go func() { stored <- runEtcd(life, h) }()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	announced := make(chan error, 1)
	go func() { announced <- announceWhenReady(ctx, h) }()
	var watching sync.WaitGroup
	watching.Go(func() { heap.Watch(ctx) })
	served := make(chan error, 1)
	go func() { served <- serve(ctx, h, listener) }()

	var err error
	select {
	case err = <-stored: // without it the apiserver does nothing but wait; it ends with the process
		return err
	case err = <-served:
	}
	cancel()
	watching.Wait()
	if aerr := <-announced; aerr != nil && !errors.Is(aerr, context.Canceled) {
		err = errors.Join(err, aerr)
	}
	end()
	return errors.Join(err, <-stored)
}

func serve(ctx context.Context, h home.Home, listener net.Listener) error {
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	s := options.NewServerRunOptions()
	registerFieldOwners(s.Admission.GenericAdmission)
	registerOwnReports(s.Admission.GenericAdmission)
	registerRefuseUnserved(s.Admission.GenericAdmission)
	registerPolicyWarnings(s.Admission.GenericAdmission)
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, f := range s.Flags().FlagSets {
		flags.AddFlagSet(f)
	}
	if err := flags.Parse(arguments(h)); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	s.SecureServing.Listener, s.SecureServing.BindPort = listener, home.Port(listener)
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	completed, err := s.Complete(ctx)
	if err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("kube-apiserver: %w", utilerrors.NewAggregate(errs))
	}
	if err := awaitEtcd(ctx, h); err != nil {
		return err
	}
	if err := runServers(ctx, completed); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	return nil
}

func arguments(h home.Home) []string {
	file := func(name, kind string) string { return pki.File(h.PKI(), name, kind) }
	return []string{
		"--etcd-servers=" + etcdEndpoint(h),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // pods reach the apiserver through their gateway
		"--service-cluster-ip-range=" + ServiceRange,

		"--tls-cert-file=" + file("apiserver", "crt"),
		"--tls-private-key-file=" + file("apiserver", "key"),
		"--client-ca-file=" + file("ca", "crt"),
		"--anonymous-auth=false",
		"--authorization-mode=RBAC",
		"--allow-privileged=true", // as every installer of clusters sets it; here it means privileged inside the sandbox
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + file("sa", "pub"),
		"--service-account-signing-key-file=" + file("sa", "key"),
		"--kubelet-certificate-authority=" + file("ca", "crt"),
		"--kubelet-client-certificate=" + file(pki.KubeletClient, "crt"),
		"--kubelet-client-key=" + file(pki.KubeletClient, "key"),
		"--kubelet-preferred-address-types=InternalIP",

		"--enable-priority-and-fairness=false",
		"--profiling=false",
		"--disable-admission-plugins=" + strings.Join(unusedAdmission, ","),
		"--runtime-config=" + strings.Join(unusedAPIs, ","),
		"--watch-cache-sizes=" + strings.Join(uncached, "#0,") + "#0",
		"--feature-gates=" + strings.Join(unusedFeatures, "=false,") + "=false",
		// Every minute all objects in etcd would be counted, kind by kind, for metrics without a reader.
		"--etcd-count-metric-poll-period=0",
		"--etcd-db-metric-poll-interval=0",
		// What was overwritten or deleted is kept for one to two minutes: a workflow leaves some 150 kB of it, and what a fast row of
		// them leaves in the usual five to ten minutes would be most of etcd's file.
		"--etcd-compaction-interval=1m",
		"--event-ttl=1h",
	}
}

// announceWhenReady tells the supervisor once /readyz says ok, which includes the built-in RBAC roles.
func announceWhenReady(ctx context.Context, h home.Home) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", h.Kubeconfig())
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	client.Timeout = 2 * time.Second
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.Host+"/readyz", nil)
		if err != nil {
			return err
		}
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				client.CloseIdleConnections()
				return readiness.Announce()
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
