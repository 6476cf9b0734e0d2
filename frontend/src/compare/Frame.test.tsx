import { screen, waitFor } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { Frame } from './Frame';

/** Says that what it observes is as wide as a phone. */
class Narrow {
  private readonly told: ResizeObserverCallback;
  constructor(told: ResizeObserverCallback) {
    this.told = told;
  }
  observe() {
    this.told([{ contentRect: { width: 300, height: 200 } } as ResizeObserverEntry], this);
  }
  unobserve() {}
  disconnect() {}
}

it('is drawn as narrow as there is room, so that its letters stay large', async () => {
  vi.stubGlobal('ResizeObserver', Narrow);
  renderAt('/', '/', () => (
    <Frame label="picture" xLabel="x" yLabel="y" xs={[0, 10]} ys={[0, 1]}>
      {(x) => <circle cx={x(10)} />}
    </Frame>
  ));
  const picture = await screen.findByRole('img', { name: 'picture' });
  await waitFor(() => expect(picture.getAttribute('viewBox')).toBe('0 0 300 280'));
  expect(Number(picture.querySelector('circle')?.getAttribute('cx'))).toBeLessThan(284);
  vi.unstubAllGlobals();
});
