package kubelet

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/argosy-ml/argosy/cluster/podnet"
)

// services are those of the whole cluster.
type services struct {
	corelisters.ServiceLister
	synced cache.InformerSynced
}

func (k *Kubelet) watchServices(ctx context.Context, work *sync.WaitGroup) {
	factory := informers.NewSharedInformerFactoryWithOptions(k.client, 0, informers.WithTransform(func(o any) (any, error) {
		if s, ok := o.(*corev1.Service); ok {
			s.ManagedFields, s.Annotations = nil, nil
		}
		return o, nil
	}))
	inf := factory.Core().V1().Services()
	k.services = services{inf.Lister(), inf.Informer().HasSynced}
	work.Go(func() { inf.Informer().RunWithContext(ctx) })
}

// serviceVariables describes the apiserver and, unless the pod does not want to know, the services of its namespace.
func (p *pod) serviceVariables(env environment) error {
	if p.obj.Spec.EnableServiceLinks == nil || *p.obj.Spec.EnableServiceLinks {
		if !cache.WaitForCacheSync(p.starting.Done(), p.k.services.synced) {
			return p.starting.Err()
		}
		services, err := p.k.services.Services(p.obj.Namespace).List(labels.Everything())
		if err != nil {
			return err
		}
		for _, s := range services {
			if s.Spec.ClusterIP != "" && s.Spec.ClusterIP != corev1.ClusterIPNone {
				describeService(env, s)
			}
		}
	}
	// The gateway, which is reached with or without services, stands for the service `kubernetes`.
	master := &corev1.Service{Spec: corev1.ServiceSpec{
		ClusterIP: podnet.Gateway.String(), Ports: []corev1.ServicePort{{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP}},
	}}
	master.Name = "kubernetes"
	describeService(env, master)
	return nil
}

// describeService adds a service's variables in the two forms that Kubernetes has: its own, and that of Docker's links.
func describeService(env environment, s *corev1.Service) {
	name, ip := strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")), s.Spec.ClusterIP
	if len(s.Spec.Ports) == 0 {
		return
	}
	env[name+"_SERVICE_HOST"] = ip
	env[name+"_SERVICE_PORT"] = strconv.Itoa(int(s.Spec.Ports[0].Port))
	for i, port := range s.Spec.Ports {
		number, protocol := strconv.Itoa(int(port.Port)), string(port.Protocol)
		if protocol == "" {
			protocol = string(corev1.ProtocolTCP)
		}
		if port.Name != "" {
			env[name+"_SERVICE_PORT_"+strings.ToUpper(strings.ReplaceAll(port.Name, "-", "_"))] = number
		}
		url := fmt.Sprintf("%s://%s", strings.ToLower(protocol), net.JoinHostPort(ip, number))
		if i == 0 {
			env[name+"_PORT"] = url
		}
		prefix := fmt.Sprintf("%s_PORT_%s_%s", name, number, strings.ToUpper(protocol))
		env[prefix], env[prefix+"_PROTO"], env[prefix+"_PORT"], env[prefix+"_ADDR"] = url, strings.ToLower(protocol), number, ip
	}
}
