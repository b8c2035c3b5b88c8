import type { AnySchedule, Engine, EnginePackage } from '@strongroom/engine-sdk';
import type { Kernel } from '../kernel/kernel.ts';
import type { Services } from '../services/services.ts';
import type { SnapshotSchedules } from '../services/snapshots/snapshot-schedules.ts';
import { cubbyholeEngine } from './cubbyhole/cubbyhole-engine.ts';
import { identityEngine } from './identity/identity-engine.ts';
import { identityImportPaths } from './identity/path-import.ts';
import { loginEnforcementPaths } from './identity/path-login-enforcement.ts';
import { mfaMethodPaths } from './identity/path-mfa-method.ts';
import { oidcPaths } from './oidc/oidc-paths.ts';
import { systemEngine } from './sys/system-engine.ts';
import { systemPaths, type SystemOptions, type SystemParts } from './sys/system-paths.ts';
import { tokenEngine } from './token/token-engine.ts';

export interface ApiParts extends SystemParts {
  readonly kernel: Kernel;
  readonly services: Services;
}

/** What `sys/` has to do later. */
function systemWork(schedules: SnapshotSchedules): Pick<Engine, 'schedules' | 'failing' | 'system'> {
  return {
    schedules: [schedules.jobs as AnySchedule],
    failing: async (limit) => schedules.failing(limit),
    system: (target) => schedules.system(target),
  };
}

/** The engines of `sys/`, `identity/`, `cubbyhole/` and `auth/token/`. */
export function builtInEngines(parts: ApiParts, options: SystemOptions): EnginePackage[] {
  const { kernel, services } = parts;
  return [
    systemEngine(
      () => systemPaths(parts, options),
      () => systemWork(services.snapshotSchedules),
    ),
    identityEngine(services.identity, {
      paths: [
        ...mfaMethodPaths(services.mfa),
        ...loginEnforcementPaths(services.mfa.enforcements),
        ...identityImportPaths({ store: services.identity, methods: services.mfa.methods, clients: services.oidc.clients }),
        ...oidcPaths(services.oidc, kernel.clock),
      ],
      schedules: services.oidc.schedules,
    }),
    cubbyholeEngine(kernel.store),
    tokenEngine(services),
  ];
}
