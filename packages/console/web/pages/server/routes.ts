import { IconServer } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

const seal = () => import('./seal-page.tsx');

export const server: Area = {
  name: 'server',
  entry: { label: 'Server', to: '/server/seal', icon: IconServer, order: 100, owns: ['/server'] },
  routes: [
    page('/server', seal),
    page('/server/seal', seal),
    page('/server/keys', () => import('./keys-page.tsx')),
    page('/server/nodes', () => import('./nodes-page.tsx'), { own: true }),
    page('/server/metrics', () => import('./metrics-page.tsx'), { own: true }),
    page('/server/audit', () => import('./audit-page.tsx')),
    page('/server/plugins', () => import('./plugins-page.tsx')),
    page('/server/log-levels', () => import('./log-levels-page.tsx')),
    page('/server/config', () => import('./config-page.tsx')),
  ],
};
