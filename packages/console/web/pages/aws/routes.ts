import { IconCloud } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const aws: Area = {
  name: 'aws',
  entry: { label: 'Cloud', to: '/aws', icon: IconCloud, order: 40, owns: ['/aws'] },
  routes: [
    page('/aws', () => import('./accounts-page.tsx')),
    page('/aws/$mount', () => import('./account-page.tsx')),
    page('/aws/$mount/config', () => import('./root-page.tsx')),
    page('/aws/$mount/roles/$name', () => import('./cloud-role-page.tsx')),
    page('/aws/$mount/static/$name', () => import('./static-key-page.tsx')),
    page('/aws/$mount/edit/$noun', () => import('./edit-cloud-page.tsx')),
  ],
};
