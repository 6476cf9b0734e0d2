// Package firstfault finds out what a distributed job failed of first: which rank, on which host, of what, and what that rank
// printed last. A job that fails says it many times: the other ranks lose their connections, and the program that started them
// reports the end of each. The package tells faults of a rank's own from those that follow from them.
//
// A Log keeps the last lines of each rank while the job runs. Find reads them, the reports of mpirun, prterun, Hydra, torchrun and
// horovodrun among them, together with how the pods ended.
package firstfault
