import { IconTool } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const tools: Area = {
  name: 'tools',
  entry: { label: 'Tools', to: '/tools/wrap', icon: IconTool, order: 95, owns: ['/tools'] },
  places: [
    { label: 'Wrap', to: '/tools/wrap' },
    { label: 'Unwrap', to: '/tools/unwrap' },
    { label: 'Look up a wrapping token', to: '/tools/lookup' },
    { label: 'Random bytes', to: '/tools/random' },
    { label: 'Hash', to: '/tools/hash' },
  ],
  routes: [
    page('/tools/wrap', () => import('./wrap-page.tsx')),
    page('/tools/unwrap', () => import('./unwrap-page.tsx')),
    page('/tools/lookup', () => import('./lookup-page.tsx')),
    page('/tools/random', () => import('./random-page.tsx')),
    page('/tools/hash', () => import('./hash-page.tsx')),
  ],
};
