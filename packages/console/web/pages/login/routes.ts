import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

const callback = () => import('./callback-page.tsx');

export const login: Area = {
  name: 'login',
  routes: [
    page('/login', () => import('./login-page.tsx'), { open: true }),
    page('/login/callback', callback, { open: true }),
    // Where other consoles of this API have people sent back to: identity providers know that address already.
    page('/vault/auth/$', callback, { open: true }),
  ],
};
