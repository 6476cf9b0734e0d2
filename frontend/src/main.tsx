// In a layer of its own, so that our styles win over it whatever their order.
import '@mantine/core/styles.layer.css';
import './app/tokens.css';
import './app/base.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { asProblem } from './api/problem';
import { router } from './app/router';
import { theme, variables } from './app/theme';
import { preferredLanguage, startI18n } from './i18n';

const schemes = localStorageColorSchemeManager({ key: 'argosy-color-scheme' });

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Lists change when runs do; a page that was just left may be shown as it was.
      staleTime: 3_000,
      // A refusal stays a refusal; only what may pass is tried again.
      retry: (count, error) => asProblem(error).transient && count < 2,
    },
  },
});

await startI18n(preferredLanguage());

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      colorSchemeManager={schemes}
      defaultColorScheme="auto"
    >
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
