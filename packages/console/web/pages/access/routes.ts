import { IconShieldLock } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const access: Area = {
  name: 'access',
  entry: { label: 'Access', to: '/access/try', icon: IconShieldLock, order: 60, owns: ['/access'] },
  routes: [page('/access/try', () => import('./try-page.tsx'))],
};
