import { setupServer } from 'msw/node';

/** Answers requests in unit tests; each test says what. The browser tests (e2e) talk to the real server instead. */
export const server = setupServer();
