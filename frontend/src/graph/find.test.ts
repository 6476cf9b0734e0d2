import { describe, expect, it } from 'vitest';
import { findSteps, isFound } from './find';

const names = ['load', 'clean', 'train', 'score', 'report', 'notify'];
const graph = {
  steps: names.map((name) => ({ id: `n-${name}`, name, kind: 'Container' })),
  edges: names.slice(1).map((name, i) => ({ from: `n-${names[i]}`, to: `n-${name}` })),
};
const found = (text: string) => names.filter((name) => findSteps(graph, text)?.has(`n-${name}`));

describe('findSteps', () => {
  it.each([
    ['TRAIN', ['train']],
    ['r', ['train', 'score', 'report']],
    ['+train', ['load', 'clean', 'train']],
    ['1+train', ['clean', 'train']],
    ['train+', ['train', 'score', 'report', 'notify']],
    ['train+2', ['train', 'score', 'report']],
    ['+train+1', ['load', 'clean', 'train', 'score']],
    ['1+train+1', ['clean', 'train', 'score']],
    ['0+train+0', ['train']],
    ['+none+', []],
    ['+', []],
  ])('%s', (text, want) => expect(found(text)).toEqual(want));

  it('takes all steps where nothing is looked for', () => {
    expect(findSteps(graph, ' ')).toBeUndefined();
    expect(isFound({ id: 'x', name: 'x', kind: 'Pod' }, undefined)).toBe(true);
  });

  it('prefers names that have the text, plus signs and all', () => {
    const odd = { steps: [...graph.steps, { id: 'odd', name: 'fit(0:a+1)', kind: 'Container' }], edges: graph.edges };
    expect([...(findSteps(odd, 'a+1') ?? [])]).toEqual(['odd']);
  });

  it('ends where steps lead in a circle', () => {
    const circle = { steps: graph.steps, edges: [...graph.edges, { from: 'n-notify', to: 'n-load' }] };
    expect(findSteps(circle, 'train+')?.size).toBe(names.length);
  });

  it('finds a group by what it hides', () => {
    const stack = { kind: 'loop', open: false, size: 2, counts: [], found: 1 } as const;
    expect(isFound({ id: 'g', name: 'g', kind: '', stack: { ...stack, counts: [] } }, new Set())).toBe(true);
  });
});
