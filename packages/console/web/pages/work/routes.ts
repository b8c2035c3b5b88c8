import { IconListCheck } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const work: Area = {
  name: 'work',
  entry: { label: 'Work', to: '/work', icon: IconListCheck, order: 70, own: true, owns: ['/work'] },
  routes: [
    page('/work', () => import('./work-page.tsx'), { own: true }),
    page('/work/job', () => import('./job-page.tsx'), { own: true }),
    page('/work/change/$id', () => import('./change-page.tsx'), { own: true }),
  ],
};
