import type { Area } from './area.ts';
import { access } from '../pages/access/routes.ts';
import { aws } from '../pages/aws/routes.ts';
import { database } from '../pages/database/routes.ts';
import { auth } from '../pages/auth/routes.ts';
import { ldap } from '../pages/ldap/routes.ts';
import { mfa } from '../pages/mfa/routes.ts';
import { sync } from '../pages/sync/routes.ts';
import { api } from '../pages/api/routes.ts';
import { engine } from '../pages/engine/routes.ts';
import { home } from '../pages/home/routes.ts';
import { kv } from '../pages/kv/routes.ts';
import { leases } from '../pages/leases/routes.ts';
import { login } from '../pages/login/routes.ts';
import { unseal } from '../pages/unseal/routes.ts';
import { server } from '../pages/server/routes.ts';
import { tools } from '../pages/tools/routes.ts';
import { mounts } from '../pages/mounts/routes.ts';
import { work } from '../pages/work/routes.ts';

/** Every part of the console. */
export const areas: readonly Area[] = [
  // Each on a line of its own.
  home,
  api,
  engine,
  sync,
  mfa,
  ldap,
  auth,
  kv,
  access,
  aws,
  database,
  leases,
  mounts,
  work,
  tools,
  server,
  login,
  unseal,
];
