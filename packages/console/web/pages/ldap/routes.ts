import { IconAddressBook } from '@tabler/icons-react';
import type { Area } from '../../app/area.ts';
import { page } from '../../app/page-route.ts';

export const ldap: Area = {
  name: 'ldap',
  entry: { label: 'Directory', to: '/ldap', icon: IconAddressBook, order: 30, owns: ['/ldap'] },
  routes: [
    page('/ldap', () => import('./ldap-mounts-page.tsx')),
    page('/ldap/$mount', () => import('./config-page.tsx')),
    page('/ldap/$mount/config', () => import('./config-page.tsx')),
    page('/ldap/$mount/static', () => import('./static-roles-page.tsx')),
    page('/ldap/$mount/static/$name', () => import('./static-role-page.tsx')),
    page('/ldap/$mount/dynamic', () => import('./dynamic-roles-page.tsx')),
    page('/ldap/$mount/dynamic/$name', () => import('./dynamic-role-page.tsx')),
    page('/ldap/$mount/library', () => import('./library-page.tsx')),
    page('/ldap/$mount/library/$set', () => import('./library-set-page.tsx')),
    page('/ldap/$mount/orphans', () => import('./orphans-page.tsx')),
    page('/ldap/$mount/failing', () => import('./failing-page.tsx')),
  ],
};
