package environment

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
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
)

// Services are those of the whole cluster.
type Services struct {
	Lister corelisters.ServiceLister
	Synced cache.InformerSynced
}

// WatchServices follows the Services until the context ends.
func WatchServices(ctx context.Context, client kubernetes.Interface, work *sync.WaitGroup) Services {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(func(o any) (any, error) {
		if s, ok := o.(*corev1.Service); ok {
			s.ManagedFields, s.Annotations = nil, nil
		}
		return o, nil
	}))
	inf := factory.Core().V1().Services()
	work.Go(func() { inf.Informer().RunWithContext(ctx) })
	return Services{inf.Lister(), inf.Informer().HasSynced}
}

// addServices adds the variables of the apiserver and of the Services in the pod's namespace, unless enableServiceLinks is false.
func (s Source) addServices(ctx context.Context, env Variables) error {
	if s.Pod.Spec.EnableServiceLinks == nil || *s.Pod.Spec.EnableServiceLinks {
		if !cache.WaitForCacheSync(ctx.Done(), s.Services.Synced) {
			return ctx.Err()
		}
		services, err := s.Services.Lister.Services(s.Pod.Namespace).List(labels.Everything())
		if err != nil {
			return err
		}
		for _, service := range services {
			if service.Spec.ClusterIP != "" && service.Spec.ClusterIP != corev1.ClusterIPNone {
				describeService(env, service)
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
func describeService(env Variables, s *corev1.Service) {
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
