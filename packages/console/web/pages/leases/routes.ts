import { IconHourglass } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const leases: Area = {
  name: 'leases',
  entry: { label: 'Leases', to: '/leases', icon: IconHourglass, order: 60, own: true, owns: ['/leases'] },
  routes: [page('/leases', () => import('./leases-page.tsx'), { own: true }), page('/leases/$first/$', () => import('./lease-page.tsx'))],
};
