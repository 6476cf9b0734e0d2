import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  type RouteComponent,
  RouterProvider,
} from '@tanstack/react-router';
import { render } from '@testing-library/react';
import { parseSearch, stringifySearch } from '../api/url';
import { newRouter } from '../app/router';
import { theme } from '../app/theme';

/** Draws a component on a route of its own, with what every page has around it. */
export function renderAt(path: string, pattern: string, component: RouteComponent) {
  const root = createRootRoute({ component: Outlet });
  const page = createRoute({ getParentRoute: () => root, path: pattern, component });
  const elsewhere = createRoute({ getParentRoute: () => root, path: '$', component: () => <p>elsewhere</p> });
  const router = createRouter({
    routeTree: root.addChildren([page, elsewhere]),
    history: createMemoryHistory({ initialEntries: [path] }),
    parseSearch,
    stringifySearch,
  });
  draw(router, new QueryClient({ defaultOptions: { queries: { retry: false } } }));
  return router;
}

/** Opens a page of the application, with its address. Import the page in the test: the router loads it only when it is opened. */
export function renderApp(path: string, staleTime = 0) {
  const router = newRouter(createMemoryHistory({ initialEntries: [path] }));
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime } } });
  draw(router, client);
  return { router, client };
}

// biome-ignore lint/suspicious/noExplicitAny: the type of the application's router is registered globally
function draw(router: any, client: QueryClient) {
  render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  );
}
