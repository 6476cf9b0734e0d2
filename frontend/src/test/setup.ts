import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { startI18n } from '../i18n';
import { server } from './server';

// happy-dom has no layout and loads no fonts; observers never report.
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

// Without a layout everything is in view.
globalThis.IntersectionObserver = class {
  readonly root = null;
  readonly rootMargin = '';
  readonly scrollMargin = '';
  readonly thresholds = [];
  private readonly tell: IntersectionObserverCallback;
  constructor(tell: IntersectionObserverCallback) {
    this.tell = tell;
  }
  observe(target: Element) {
    this.tell([{ target, isIntersecting: true } as IntersectionObserverEntry], this);
  }
  unobserve() {}
  disconnect() {}
  takeRecords = () => [];
};

if (!document.fonts) Object.defineProperty(document, 'fonts', { value: new EventTarget() });

configure({ asyncUtilTimeout: 60_000 });

beforeAll(async () => {
  server.listen({ onUnhandledRequest: 'error' });
  await startI18n('en');
});
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());
