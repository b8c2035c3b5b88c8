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
    page('/access/try', () => import('./try-page.tsx'), { own: true }),
    page('/access/password-policies', () => import('./password-policies-page.tsx')),
    page('/access/new-password-policy', () => import('./new-password-policy-page.tsx')),
    page('/access/password-policies/$name', () => import('./password-policy-page.tsx')),
    page('/access/entities', () => import('./entities-page.tsx')),
    page('/access/entities/$id', () => import('./entity-page.tsx')),
    page('/access/merge', () => import('./merge-page.tsx')),
    page('/access/groups', () => import('./groups-page.tsx')),
    page('/access/groups/$id', () => import('./group-page.tsx')),
    page('/access/tokens', () => import('./tokens-page.tsx')),
    page('/access/new-token', () => import('./new-token-page.tsx')),
    page('/access/tokens/$accessor', () => import('./token-page.tsx')),
    page('/access/token-roles', () => import('./token-roles-page.tsx')),
    page('/access/token-roles/$name', () => import('./token-role-page.tsx')),
    page('/access/who', () => import('./who-page.tsx'), { own: true }),
  ],
};
