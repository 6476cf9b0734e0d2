// Package podlog is what a container leaves behind in its folder of logs: what
// it said, in segments of bounded size, and how it ended. Each run of a
// container is a life of its own, counted from 0.
//
//	LIFE.SEGMENT.log   entries, see AppendEntry; the highest segment is written to
//	LIFE.exit          how the life ended; it appears when the log is complete
//
// The pod's holder writes these files, the kubelet reads them. Segments are
// never renamed, so a reader can go on in one while the next is begun.
package podlog
