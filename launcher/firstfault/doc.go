// Package firstfault finds the first fault of a distributed job: which rank failed, on which host, why, and what it printed last. A failing
// job reports many faults: other ranks lose their connections, and the program that started them reports the end of each. The package
// separates the first fault from those that follow from it.
//
// A Log keeps the last lines of each rank while the job runs. Find reads them, the reports of mpirun, prterun, Hydra, torchrun and
// horovodrun among them, together with how the pods ended.
package firstfault
