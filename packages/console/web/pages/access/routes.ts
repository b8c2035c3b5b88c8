import { IconShieldLock } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const access: Area = {
  name: 'access',
  entry: { label: 'Access', to: '/access/policies', icon: IconShieldLock, order: 60, owns: ['/access'] },
  routes: [
    page('/access/policies', () => import('./policies-page.tsx')),
    page('/access/new-policy', () => import('./new-policy-page.tsx')),
    page('/access/policies/$name', () => import('./policy-page.tsx')),
    page('/access/try', () => import('./try-page.tsx')),
    page('/access/who', () => import('./who-page.tsx')),
  ],
};
