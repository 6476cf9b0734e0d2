// Package mpijob runs one MPIJob for a pipeline step: it creates the job or
// finds the one it created before, says what the job waits for, passes its
// output on, harvests metrics from it, and ends as the job ends.
//
// The job's name follows from the workflow and the step's node, and the job is
// owned by the workflow: a launcher that is started again goes on with the same
// job, and none outlives its run.
package mpijob
