import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const output = join(import.meta.dirname, '../../.build/playwright');

// The tests look at a real server. ARGOSY_URL says where it is; see run.spec.ts for the other variables.
export default defineConfig({
  testDir: '.',
  // The pages share one server and build on each other's runs.
  workers: 1,
  // Both only guard against hanging: machines may be slow and busy.
  timeout: 900_000,
  expect: { timeout: 120_000 },
  forbidOnly: true,
  reporter: 'list',
  // Each run empties the folders of its projects: checkouts do not share one.
  projects: [
    { name: 'chromium', testIgnore: ['firefox.spec.ts', 'empty.spec.ts'], outputDir: join(output, 'chromium') },
    { name: 'empty', testMatch: 'empty.spec.ts', outputDir: join(output, 'empty') },
    { name: 'firefox', testMatch: 'firefox.spec.ts', outputDir: join(output, 'firefox') },
  ],
  use: {
    baseURL: process.env.ARGOSY_URL ?? 'http://127.0.0.1:8888',
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    // A page is looked at when it rests: half of a transition has other colors.
    contextOptions: { reducedMotion: 'reduce' },
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        `--crash-dumps-dir=${join(output, 'chromium/crashes')}`,
      ],
    },
  },
});
