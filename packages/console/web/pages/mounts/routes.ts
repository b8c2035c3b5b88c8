import { IconDatabase } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const mounts: Area = {
  name: 'mounts',
  entry: { label: 'Mounts', to: '/mounts', icon: IconDatabase, order: 90, owns: ['/mounts', '/engine'] },
  routes: [
    page('/mounts', () => import('./mounts-page.tsx')),
    page('/mounts/enable/$kind', () => import('./enable-page.tsx')),
    page('/mounts/$kind/$mount', () => import('./mount-page.tsx')),
  ],
};
