// Package train adds distributed training steps to pipelines: jobs of several pods that start, fail and end as one.
//
// Each is a step whose container is the launcher: it submits the job to the cluster, follows it, passes its output
// on, and harvests metrics from what the job prints. When the step is stopped, the job is deleted.
package train
