import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { token } from '../api/token.ts';
import { areas } from './areas.ts';
import { FailedPage } from './failed-page.tsx';
import { MissingPage } from './missing-page.tsx';
import { currentSession } from './session.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: MissingPage, errorComponent: FailedPage });

const routes = areas
  .flatMap((area) => area.routes)
  .map(({ pattern, load, open }) =>
    createRoute({
      getParentRoute: () => root,
      path: pattern,
      component: lazyRouteComponent(load),
      beforeLoad: ({ location }) => {
        if (!open && token.current() === undefined && currentSession().covered === undefined)
          throw redirect({ href: `/login?to=${encodeURIComponent(location.href)}` });
      },
    }),
  );

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/ui',
  trailingSlash: 'preserve',
  defaultPreload: 'intent',
  defaultErrorComponent: FailedPage,
  scrollRestoration: true,
});
