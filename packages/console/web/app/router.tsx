import { createRootRoute, createRoute, createRouter, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { loadSettings } from '../api/console-settings.ts';
import { isForeign } from '../api/own-routes.ts';
import { token } from '../api/token.ts';
import { areas } from './areas.ts';
import { FailedPage } from './failed-page.tsx';
import { MissingPage } from './missing-page.tsx';
import { currentSession } from './session.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: MissingPage, errorComponent: FailedPage });

const routes = areas
  .flatMap((area) => area.routes)
  .map(({ pattern, load, open, own }) =>
    createRoute({
      getParentRoute: () => root,
      path: pattern,
      component: lazyRouteComponent(load),
      beforeLoad: async ({ location }) => {
        if (!open && token.current() === undefined && currentSession().covered === undefined)
          throw redirect({ href: `/login?to=${encodeURIComponent(location.href)}` });
        if (!own) return;
        await loadSettings();
        if (isForeign()) throw notFound();
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
