// Package job runs one distributed job for a pipeline step: it creates the job
// or finds the one it created before, says what the job waits for, passes the
// output of its pods on, harvests metrics from it, and ends as the job ends.
//
// What kinds of job there are stands in kind.go; each has a file that says how
// it is written and how its state is read. All else is the same for all.
//
// The job's name follows from the workflow and the step's node, and the job is
// owned by the workflow: a launcher that is started again goes on with the same
// job, and none outlives its run.
package job
