import type { Area } from './area.ts';
import { access } from '../pages/access/routes.ts';
import { home } from '../pages/home/routes.ts';
import { leases } from '../pages/leases/routes.ts';
import { login } from '../pages/login/routes.ts';
import { mounts } from '../pages/mounts/routes.ts';

/** Every part of the console. */
export const areas: readonly Area[] = [home, access, leases, mounts, login];
