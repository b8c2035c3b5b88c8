import { IconDatabaseCog } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const database: Area = {
  name: 'database',
  entry: { label: 'Databases', to: '/database', icon: IconDatabaseCog, order: 20, owns: ['/database'] },
  routes: [
    page('/database', () => import('./databases-page.tsx')),
    page('/database/$mount', () => import('./database-page.tsx')),
    page('/database/$mount/connections/$name', () => import('./connection-page.tsx')),
    page('/database/$mount/roles/$name', () => import('./role-page.tsx')),
    page('/database/$mount/static/$name', () => import('./static-role-page.tsx')),
    page('/database/$mount/creds/$name', () => import('./creds-page.tsx')),
    page('/database/$mount/orphans/$name', () => import('./orphans-page.tsx')),
    page('/database/$mount/edit/$noun', () => import('./edit-page.tsx')),
  ],
};
