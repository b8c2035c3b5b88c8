import { IconRefresh } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const sync: Area = {
  name: 'sync',
  entry: { label: 'Sync', to: '/sync', icon: IconRefresh, order: 50, own: true, owns: ['/sync'] },
  routes: [
    page('/sync', () => import('./destinations-page.tsx'), { own: true }),
    page('/sync/apps', () => import('./apps-page.tsx'), { own: true }),
    page('/sync/apps/$name', () => import('./app-page.tsx'), { own: true }),
    page('/sync/$type/$name', () => import('./destination-page.tsx'), { own: true }),
    page('/sync/$type/$name/plan', () => import('./plan-page.tsx'), { own: true }),
    page('/sync/$type/$name/link', () => import('./link-page.tsx'), { own: true }),
    page('/sync/$type/$name/settings', () => import('./destination-settings-page.tsx'), { own: true }),
  ],
};
