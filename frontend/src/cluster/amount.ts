import type { Amount, Cluster, ResourceUse } from '../api/cluster';
import { numberFormat } from '../format/format';

const inBytes = (resource: string) =>
  resource === 'memory' || resource.endsWith('storage') || resource.startsWith('hugepages-');

const gibi = 2 ** 30;

/** An amount of a resource: bytes in GiB, as Kubernetes counts them, and all else as a number. */
export function formatAmount(resource: string, value: number, language: string): string {
  if (!inBytes(resource)) return numberFormat(language, { maximumFractionDigits: 2 }).format(value);
  return `${numberFormat(language, { maximumFractionDigits: value < 10 * gibi ? 1 : 0 }).format(value / gibi)} GiB`;
}

/** Resources that people look at: the disk of a node is seldom what a run waits for. */
export const isShown = (resource: string | undefined) => resource !== 'ephemeral-storage';

/** How a resource is called: a device without the name of who makes it. */
export function shortName(resource: string): string {
  const device = resource.slice(resource.lastIndexOf('/') + 1);
  return device === 'cpu' || device === 'gpu' ? device.toUpperCase() : device;
}

/** "4 CPU, 8 GiB": what somebody asks for, without the pods themselves. */
export function formatAmounts(amounts: Amount[] | undefined, language: string): string {
  return (amounts ?? [])
    .filter(({ resource, value }) => resource !== 'pods' && value)
    .map(({ resource = '', value = 0 }) => {
      const text = formatAmount(resource, value, language);
      return resource === 'memory' ? text : `${text} ${shortName(resource)}`;
    })
    .join(', ');
}

/** What all nodes have together, in the order in which they tell their resources. */
export function totals({ nodes = [] }: Cluster): Required<ResourceUse>[] {
  const all = new Map<string, Required<ResourceUse>>();
  for (const node of nodes) {
    for (const { resource = '', capacity = 0, allocatable = 0, requested = 0, free = 0 } of node.resources ?? []) {
      const sum = all.get(resource) ?? { resource, capacity: 0, allocatable: 0, requested: 0, free: 0 };
      sum.capacity += capacity;
      sum.allocatable += allocatable;
      sum.requested += requested;
      // Nobody can have what is free on a node that takes no pods.
      if (node.ready && node.schedulable) sum.free += free;
      all.set(resource, sum);
    }
  }
  return [...all.values()].filter(({ resource }) => isShown(resource));
}
