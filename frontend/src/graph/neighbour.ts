import type { Placed } from './layout';
import type { Steps } from './model';

/** The keys that lead from step to step. */
export const ways = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'] as const;
export type Way = (typeof ways)[number];

/** The step that an arrow key leads to: before or after along the edges, or beside on the same level. */
export function neighbour(graph: Steps, places: Map<string, Placed>, from: string, way: Way): string | undefined {
  const here = places.get(from);
  if (!here) return undefined;
  const candidates = idsOf(graph, places, from, way);
  let nearest: Placed | undefined;
  for (const id of candidates) {
    const place = places.get(id);
    if (place && (!nearest || Math.abs(place.x - here.x) < Math.abs(nearest.x - here.x))) nearest = place;
  }
  return nearest?.id;
}

function idsOf({ edges }: Steps, places: Map<string, Placed>, from: string, way: Way): string[] {
  const here = places.get(from) as Placed;
  switch (way) {
    case 'ArrowDown':
      return edges.filter((edge) => edge.from === from && edge.to !== from).map(({ to }) => to);
    case 'ArrowUp':
      return edges.filter((edge) => edge.to === from && edge.from !== from).map((edge) => edge.from);
    default: {
      const side = way === 'ArrowLeft' ? -1 : 1;
      const beside = [...places.values()].filter(({ x, y }) => Math.abs(y - here.y) < 1 && (x - here.x) * side > 0);
      return beside.map(({ id }) => id);
    }
  }
}
