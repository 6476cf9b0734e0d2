package machine

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// shared are the device files that every user of an NVIDIA GPU needs, whichever GPU it is.
var shared = []string{"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps"}

// gpus are the NVIDIA devices that can be opened here, in the order of their buses, which is how nvidia-smi numbers them.
// The driver tells of each in /proc/driver/nvidia/gpus/BUS/information.
func gpus(root fs.FS) []GPU {
	type found struct {
		minor     int
		bus, uuid string
	}
	byMinor := map[int]found{}
	files, _ := fs.Glob(root, "proc/driver/nvidia/gpus/*/information") // the pattern is well formed
	for _, file := range files {
		f := found{minor: -1, bus: path.Base(path.Dir(file))}
		for line := range strings.Lines(read(root, file)) {
			key, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
			case "Device Minor":
				if n, err := strconv.Atoi(value); err == nil {
					f.minor = n
				}
			case "GPU UUID":
				if strings.HasPrefix(value, "GPU-") && !strings.Contains(value, "?") {
					f.uuid = value
				}
			}
		}
		byMinor[f.minor] = f
	}
	nodes, _ := fs.Glob(root, "dev/nvidia[0-9]*")
	var all []found
	for _, node := range nodes {
		minor, err := strconv.Atoi(strings.TrimPrefix(path.Base(node), "nvidia"))
		if err != nil {
			continue
		}
		f := byMinor[minor]
		f.minor = minor
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.bus, b.bus), cmp.Compare(a.minor, b.minor)) })
	var list []GPU
	for i, f := range all {
		g := GPU{Index: i, UUID: f.uuid, Devices: []string{"nvidia" + strconv.Itoa(f.minor)}}
		for _, s := range shared {
			if _, err := fs.Stat(root, "dev/"+s); err == nil {
				g.Devices = append(g.Devices, s)
			}
		}
		list = append(list, g)
	}
	return list
}
