import { IconHome } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const home: Area = {
  name: 'home',
  entry: { label: 'Home', to: '/', icon: IconHome, order: 0, owns: ['/'] },
  routes: [page('/', () => import('./home-page.tsx'))],
};
