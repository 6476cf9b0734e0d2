// Package scrape reads what the ranks of a distributed job print and takes
// named metrics from it.
//
// A stream of log bytes is split at the rank tags that MPI launchers put into
// it, wherever in the stream they stand, and put together again line by line
// for each rank; colours and progress bars are understood. A metric is found by
// its literal name, followed by `=` or `:` and a number:
//
//	[1,0]<stdout>:total images/sec: 3033.57      images/sec -> 3033.57
//	{"type":"LOG","data":{"train.total_ips":4294.9}}
//	epoch 3 loss = -1.5e-3                       (val_loss is not loss)
//
// The package needs the standard library only.
package scrape
