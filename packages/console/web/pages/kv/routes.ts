import { IconKey } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const kv: Area = {
  name: 'kv',
  entry: { label: 'Secrets', to: '/kv', icon: IconKey, order: 10, owns: ['/kv'] },
  routes: [
    page('/kv', () => import('./kv-mounts-page.tsx')),
    page('/kv/$mount/list/$', () => import('./folder-page.tsx')),
    page('/kv/$mount/show/$', () => import('./secret-page.tsx')),
    page('/kv/$mount/edit/$', () => import('./edit-page.tsx')),
    page('/kv/$mount/new/$', () => import('./new-page.tsx')),
    page('/kv/$mount/diff/$', () => import('./diff-page.tsx')),
    page('/kv/$mount/compare/$', () => import('./compare-page.tsx')),
  ],
};
