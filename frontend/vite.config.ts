/// <reference types="vitest/config" />
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { budget } from './bench/budget.ts';

// `npm run dev` serves the UI with hot reload and sends API calls to a running `argosy up`.
const server = process.env.ARGOSY_URL ?? 'http://127.0.0.1:8888';

export default defineConfig({
  plugins: [react(), budget(180)],
  server: { proxy: { '/apis': { target: server, changeOrigin: true } } },
  build: {
    target: 'es2023',
    // Every browser of that target loads modules ahead by itself.
    modulePreload: { polyfill: false },
    // The binary embeds what is built: no source maps, and a hash in every asset's name so that it may be cached for ever.
    sourcemap: false,
    chunkSizeWarningLimit: 600,
    // What every page needs is one file: as many as have it in common would be dozens of requests.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shell', tags: ['$initial'] }] } } },
  },
  test: {
    environment: 'happy-dom',
    setupFiles: ['src/test/setup.ts'],
    include: ['src/**/*.test.{ts,tsx}'],
    restoreMocks: true,
    // These only guard against hanging: other work may share the machine.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    teardownTimeout: 300_000,
  },
});
