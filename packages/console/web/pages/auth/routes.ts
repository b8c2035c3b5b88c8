import { IconLogin2 } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const auth: Area = {
  name: 'auth',
  entry: { label: 'Logins', to: '/auth', icon: IconLogin2, order: 65, owns: ['/auth', '/mfa'] },
  routes: [
    page('/auth', () => import('./methods-page.tsx')),
    page('/auth/$mount', () => import('./method-page.tsx')),
    page('/auth/$mount/config', () => import('./method-page.tsx')),
    page('/auth/$mount/locked', () => import('./locked-page.tsx')),
    page('/auth/$mount/list/$noun', () => import('./records-page.tsx')),
    page('/auth/$mount/$noun/$', () => import('./record-page.tsx')),
  ],
};
