package admission

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

// gpuFile is a file in the pod's folder.
const gpuFile = "gpus.json"

// readGPUs reads what writeGPUs of an earlier kubelet wrote.
func ReadGPUs(dir string) (gpus []machine.GPU, err error) {
	b, err := os.ReadFile(filepath.Join(dir, gpuFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &gpus)
	}
	return gpus, err
}

// writeGPUs writes down which GPUs a pod has.
func WriteGPUs(dir string, gpus []machine.GPU) error {
	if len(gpus) == 0 {
		return nil
	}
	b, err := json.Marshal(gpus)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return beneath.Replace(filepath.Join(dir, gpuFile), b, 0o600)
}

// gpusOf returns the GPUs of a container among those of its pod. Containers that run side by side have different ones. Init containers
// have ended before the others start, and use the same.
func GPUsOf(obj *corev1.Pod, gpus []machine.GPU, c *corev1.Container) []machine.GPU {
	count := func(c *corev1.Container) int {
		n := c.Resources.Limits[GPU]
		return int(n.Value())
	}
	first := 0
	own := func(o *corev1.Container) bool { return o.Name == c.Name }
	for i := range obj.Spec.InitContainers {
		o := &obj.Spec.InitContainers[i]
		if own(o) {
			break
		}
		if podspec.IsSidecar(o) {
			first += count(o)
		}
	}
	if !slices.ContainsFunc(obj.Spec.InitContainers, func(o corev1.Container) bool { return own(&o) }) {
		for i := range obj.Spec.Containers {
			if own(&obj.Spec.Containers[i]) {
				break
			}
			first += count(&obj.Spec.Containers[i])
		}
	}
	first = min(first, len(gpus))
	return gpus[first:min(first+count(c), len(gpus))]
}

// showGPUs sets the variables that tell a container's programs which GPUs they have.
func ShowGPUs(gpus []machine.GPU, env map[string]string) {
	var indices, ids []string
	for _, g := range gpus {
		indices = append(indices, strconv.Itoa(g.Index))
		// An id is right however the container numbers the devices that it sees.
		ids = append(ids, cmp.Or(g.UUID, strconv.Itoa(g.Index)))
	}
	env["CUDA_VISIBLE_DEVICES"], env["NVIDIA_VISIBLE_DEVICES"] = strings.Join(ids, ","), "void"
	if len(indices) > 0 {
		env["NVIDIA_VISIBLE_DEVICES"], env["CUDA_DEVICE_ORDER"] = strings.Join(indices, ","), "PCI_BUS_ID"
	}
}

// devices returns the files below /dev that a container needs for its GPUs.
func Devices(gpus []machine.GPU) []string {
	var all []string
	for _, g := range gpus {
		all = append(all, g.Devices...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
