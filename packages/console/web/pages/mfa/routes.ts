import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const mfa: Area = {
  name: 'mfa',
  routes: [
    page('/mfa', () => import('./mfa-page.tsx')),
    page('/mfa/method/$id', () => import('./mfa-method-page.tsx')),
    page('/mfa/enforcement/$name', () => import('./enforcement-page.tsx')),
  ],
};
