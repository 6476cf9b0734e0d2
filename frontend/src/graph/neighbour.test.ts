import { expect, it } from 'vitest';
import { neighbour, type Way } from './neighbour';

const places = new Map(
  [
    { id: 'top', x: 100, y: 0 },
    { id: 'left', x: 0, y: 100 },
    { id: 'mid', x: 90, y: 100 },
    { id: 'right', x: 200, y: 100 },
    { id: 'end', x: 100, y: 200 },
  ].map((place) => [place.id, place]),
);
const edge = (from: string, to: string) => ({ from, to });
const graph = {
  steps: [],
  edges: [edge('top', 'left'), edge('top', 'mid'), edge('top', 'right'), edge('mid', 'end'), edge('mid', 'mid')],
};

it.each<[string, Way, string | undefined]>([
  ['top', 'ArrowDown', 'mid'],
  ['end', 'ArrowUp', 'mid'],
  ['mid', 'ArrowDown', 'end'],
  ['mid', 'ArrowLeft', 'left'],
  ['left', 'ArrowRight', 'mid'],
  ['left', 'ArrowLeft', undefined],
  ['left', 'ArrowDown', undefined],
  ['gone', 'ArrowUp', undefined],
])('from %s %s leads to %s', (from, way, to) => expect(neighbour(graph, places, from, way)).toBe(to));
