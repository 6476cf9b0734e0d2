package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
)

// ownReports is the name of an admission plugin that has each pod of a workflow report for itself alone. The account of a workflow may
// write the results of all steps of its namespace, and the programs of users have its token.
const ownReports = "ArgosyOwnReports"

// Labels and annotations that Argo's controller gives to the pods of a workflow and to what they report.
const (
	workflowLabel    = "workflows.argoproj.io/workflow"
	componentLabel   = "workflows.argoproj.io/component"
	nodeIDAnnotation = "workflows.argoproj.io/node-id"
)

// reports maps each kind with which pods report to a function that tells whether a report belongs to a pod.
var reports = map[schema.GroupResource]func(report metav1.Object, pod *corev1.Pod) bool{
	{Group: "argoproj.io", Resource: "workflowtaskresults"}: func(result metav1.Object, pod *corev1.Pod) bool {
		return pod.Annotations[nodeIDAnnotation] == result.GetName() && pod.Labels[workflowLabel] == result.GetLabels()[workflowLabel]
	},
	{Group: "argoproj.io", Resource: "workflowtasksets"}: func(set metav1.Object, pod *corev1.Pod) bool {
		return pod.Labels[componentLabel] == "agent" && pod.Labels[workflowLabel] == set.GetName()
	},
	{Group: "argoproj.io", Resource: "workflowartifactgctasks"}: func(task metav1.Object, pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == task.GetUID() })
	},
}

func registerOwnReports(o *genericoptions.AdmissionOptions) {
	o.Plugins.Register(ownReports, func(io.Reader) (admission.Interface, error) {
		return &reporting{Handler: admission.NewHandler(admission.Create, admission.Update)}, nil
	})
	o.RecommendedPluginOrder = append(o.RecommendedPluginOrder, ownReports)
}

type reporting struct {
	*admission.Handler
	client     kubernetes.Interface
	authorizer authorizer.Authorizer
}

func (r *reporting) SetExternalKubeClientSet(c kubernetes.Interface) { r.client = c }
func (r *reporting) SetAuthorizer(a authorizer.Authorizer)           { r.authorizer = a }

func (r *reporting) ValidateInitialization() error {
	if r.client == nil || r.authorizer == nil {
		return errors.New(ownReports + " needs a client and an authorizer")
	}
	return nil
}

// Validate refuses the reports of pods for others. Tokens that are bound to no pod are not those of pods; what they may do is up to
// their rights.
func (r *reporting) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	belongs, ok := reports[a.GetResource().GroupResource()]
	if !ok {
		return nil
	}
	name, uid := boundTo(a.GetUserInfo())
	if name == "" {
		return nil
	}
	report, err := meta.Accessor(a.GetObject())
	if err != nil {
		return err
	}
	if may, err := r.mayForAll(ctx, a); may || err != nil {
		return err
	}
	pod, err := r.client.CoreV1().Pods(a.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("pod %s that reports: %w", name, err)
	}
	if string(pod.UID) != uid || !belongs(report, pod) {
		return admission.NewForbidden(a, fmt.Errorf("pod %s may report for its own step alone", name))
	}
	return nil
}

// boundTo is the pod that a token is bound to.
func boundTo(u user.Info) (name, uid string) {
	first := func(key string) string {
		if values := u.GetExtra()[key]; len(values) == 1 {
			return values[0]
		}
		return ""
	}
	return first(serviceaccount.PodNameKey), first(serviceaccount.PodUIDKey)
}

// mayForAll says whether the account may also delete reports, as the server's may: it keeps those of all steps.
func (r *reporting) mayForAll(ctx context.Context, a admission.Attributes) (bool, error) {
	decision, _, err := r.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: a.GetUserInfo(), Verb: "delete", Namespace: a.GetNamespace(), ResourceRequest: true,
		APIGroup: a.GetResource().Group, APIVersion: a.GetResource().Version, Resource: a.GetResource().Resource, Name: a.GetName(),
	})
	return decision == authorizer.DecisionAllow, err
}
