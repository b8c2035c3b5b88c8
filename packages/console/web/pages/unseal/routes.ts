import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

const ready = () => import('./ready-page.tsx');

export const unseal: Area = {
  name: 'unseal',
  routes: [page('/init', ready, { open: true }), page('/unseal', ready, { open: true })],
};
