import type { Area } from './area.ts';
import { access } from '../pages/access/routes.ts';
import { aws } from '../pages/aws/routes.ts';
import { database } from '../pages/database/routes.ts';
import { home } from '../pages/home/routes.ts';
import { leases } from '../pages/leases/routes.ts';
import { login } from '../pages/login/routes.ts';
import { unseal } from '../pages/unseal/routes.ts';
import { server } from '../pages/server/routes.ts';
import { mounts } from '../pages/mounts/routes.ts';

/** Every part of the console. */
export const areas: readonly Area[] = [
  // Each on a line of its own.
  home,
  access,
  aws,
  database,
  leases,
  mounts,
  server,
  login,
  unseal,
];
