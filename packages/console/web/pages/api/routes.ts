import { IconApi } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const api: Area = {
  name: 'api',
  entry: { label: 'API', to: '/api', icon: IconApi, order: 110, owns: ['/api'] },
  routes: [page('/api', () => import('./api-page.tsx')), page('/api/$', () => import('./operation-page.tsx'))],
};
