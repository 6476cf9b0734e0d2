import type { Item } from './rows';

const gap = 24;
const sweeps = 4;

/** The items of each row in an order with few crossings: each goes to the middle of its neighbours, down and up in turn. */
export function ordered(items: Item[]): Item[][] {
  const rows: Item[][] = [];
  for (const item of items) {
    rows[item.row] ??= [];
    rows[item.row]?.push(item);
  }
  const number = (row: Item[]) => {
    row.forEach((item, i) => {
      item.x = i / row.length;
    });
  };
  for (const row of rows) {
    row.sort((a, b) => a.x - b.x);
    number(row);
  }
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const wishes = new Map(row.map((item) => [item, mean(down ? item.above : item.below) ?? item.x]));
      row.sort((a, b) => (wishes.get(a) as number) - (wishes.get(b) as number));
      number(row);
    }
  }
  return rows;
}

/** Gives each item its x: near its neighbours, in its row's order, and none on another. */
export function spread(rows: Item[][]) {
  for (const row of rows) settle(row, () => 0);
  for (let sweep = 0; sweep <= 2 * sweeps; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      settle(row, (item) => {
        const near = down ? item.above : item.below;
        // A passage goes straight on.
        const same = item.step === undefined && near.find(({ step }) => step === undefined);
        return same ? same.x : mean(near);
      });
    }
  }
}

const mean = (near: Item[]): number | undefined =>
  near.length === 0 ? undefined : near.reduce((sum, { x }) => sum + x, 0) / near.length;

interface Block {
  sum: number;
  weight: number;
  items: number;
}

/** The positions nearest to the wishes that keep the order and the distances: neighbours that want the same place share a block. */
function settle(row: Item[], wish: (item: Item) => number | undefined) {
  // Each item's place in the row when all stand as close as they may; without it, order is all that counts.
  const close: number[] = [];
  let edge = 0;
  for (const item of row) {
    close.push(edge + item.width / 2);
    edge += item.width + gap;
  }
  const blocks: Block[] = [];
  row.forEach((item, i) => {
    // What has no neighbour on this side gives way; passages hold their line.
    const wanted = wish(item);
    const weight = wanted === undefined ? 0.1 : item.step === undefined ? 10_000 : 1;
    let block = { sum: ((wanted ?? item.x) - (close[i] as number)) * weight, weight, items: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.weight > block.sum / block.weight; last = blocks.at(-1)) {
      blocks.pop();
      block = { sum: last.sum + block.sum, weight: last.weight + block.weight, items: last.items + block.items };
    }
    blocks.push(block);
  });
  let i = 0;
  for (const { sum, weight, items } of blocks) {
    for (const end = i + items; i < end; i++) (row[i] as Item).x = sum / weight + (close[i] as number);
  }
}
