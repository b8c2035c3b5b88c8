import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const login: Area = {
  name: 'login',
  routes: [page('/login', () => import('./login-page.tsx'), { open: true })],
};
