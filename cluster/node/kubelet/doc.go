// Package kubelet runs the pods of the embedded cluster's nodes as processes in
// namespaces. It lives inside the node's sandbox.
//
// # What a pod gets
//
// A container is made of the layers of its image, or of this machine's own files
// where that is what the image's name stands for (see package images). Those it sees
// copy-on-write, and what it writes is gone when it ends; its own are /tmp, /run,
// /dev, /proc, /root and /etc/ssh then. The pod's containers share /dev/shm,
// network, host name and volumes. Of the cluster's data folder they see only
// `shared`, read-only. Images whose last part is argosy-launcher or argoexec
// bring the program of that name.
//
// A pod has an address of its own and a name server that knows the cluster's
// Services and pods as CoreDNS does and asks the machine's for the rest.
// Services carry TCP and UDP to their ready pods, which see the gateway as the
// client. What goes elsewhere leaves as connections of this machine, but not to
// the machine's loopback and not to a cloud's metadata. hostNetwork joins the
// sandbox's own network, not the machine's: such pods share one address, the
// gateway's, and the ports on it. NetworkPolicies are not enforced.
//
// Commands run as root of the pod. If root runs the cluster, that is an id
// without an account. If an ordinary user runs it, it is the user's own, and
// other ids come from /etc/subuid and /etc/subgid. Without these there is one id
// only: calls that change owners do nothing, and runAsUser is ignored with an
// event.
//
// Root of a pod has the capabilities that container engines leave by default, but
// not CAP_MKNOD where it is root of the machine. The kernel's settings in /proc
// are read-only and its secrets masked. A privileged container has all
// capabilities, yet in the node's sandbox only. A hostPath shows what the owner of
// the cluster lists, and neither the data folder nor the processes of others.
//
// # What a pod may use
//
// One kubelet serves all nodes of the machine, which they divide among them.
// kube-scheduler, or another scheduler, binds pods; what they ask for is weighed
// here once more (see admission.Room), since there may be two schedulers, and pods that
// name their node themselves. GPUs are handed out by index: a container has the
// device files and the variables of its own, and others of none.
//
// Limits are kept by control groups where the kernel has them in version 2 and
// the cluster's group is delegated to its user. Elsewhere a container's
// processes keep to as many processors as its limit begins, and the pod's
// holder adds up their memory and ends a container that has more than it may
// (see admission.Limiter). The Node's annotation argosy.dev/limits says which it is.
//
// # What it does not do
//
// Each field of a pod's spec is implemented here or by another component, or the
// pod's events say that it is not (see admission.Warnings, and the test that
// knows all fields): hostPID, hostIPC, hostPort, user namespaces of a pod's own,
// runtime classes, mount propagation, AppArmor, SELinux, limits of a pod as a
// whole. Refused are seccomp and AppArmor profiles of type Localhost, block
// volumes, resource claims and kinds of volumes that are not there. Running
// containers are neither resized nor given another image. A container that is
// added to a running pod does not see the processes of its target. Tokens of
// service accounts are not bound to their pod. Secrets lie in memory; what pods
// may have on the disk is added up every ten seconds.
//
// # When something dies
//
// Every pod has a process that holds it (package shim), so a pod goes on
// when the kubelet dies: the next one takes it over. When the holder of a pod
// dies, or the node with all holders, the pod is reported as failed with the
// reason NodeLost. How a pod ended is reported however long the apiserver is
// away.
//
// # Its packages
//
// This package starts, watches, reports and takes over pods. The others never
// import it: admission, argo, environment, etc, events, hostimage, images,
// leftovers, logs, nodestatus, objects, podrecord, podspec, podstatus, probes,
// process, report, retry, sandbox, security, spec, stream and volumes. The
// cluster's README says what each does.
package kubelet
