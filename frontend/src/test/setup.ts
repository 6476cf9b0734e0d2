import { timeoutManager } from '@tanstack/react-query';
import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { startI18n, withTexts } from '../i18n';
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

// It only guards against hanging.
configure({ asyncUtilTimeout: 180_000 });

// Pages read again every few seconds, and a slow machine takes that long for a page: what a test counts would depend on its speed.
timeoutManager.setTimeoutProvider<number | NodeJS.Timeout>({
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer),
  setInterval: () => 0,
  clearInterval: () => undefined,
});

beforeAll(async () => {
  server.listen({ onUnhandledRequest: 'error' });
  await startI18n('en');
  await withTexts(async () => undefined)();
});
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());
