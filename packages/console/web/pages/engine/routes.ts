import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const engine: Area = {
  name: 'engine',
  routes: [page('/engine/$mount', () => import('./engine-page.tsx')), page('/engine/$mount/$', () => import('./path-page.tsx'))],
};
