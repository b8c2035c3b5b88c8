import type { Kernel } from '../kernel/kernel.ts';
import type { PathRouter } from '../kernel/mounts/path-router.ts';
import { openMount } from '../services/mounts/open-mount.ts';
import type { Services } from '../services/services.ts';
import { AuditTrail } from './audit-trail.ts';
import { Authentication } from './authentication.ts';
import { Issuing } from './issuing.ts';
import { LoginGuard } from './login-guard.ts';
import { Pipeline } from './pipeline.ts';
import { QuotaGate } from './quota-gate.ts';
import { RepeatedCalls } from './repeated-calls.ts';
import { Routing } from './routing.ts';
import { UnwrapDoor } from './unwrap-door.ts';

/** Puts the steps of a request together. `open`: the paths that answer everybody, sealed or not. */
export function openPipeline(kernel: Kernel, services: Services, { open, sealed }: { open: PathRouter; sealed: () => boolean }): Pipeline {
  const { clock, log, store, copies } = kernel;
  const { underWay, mounts, lockout, leases, logins, wrapping, audit, figures } = services;
  const quotas = new QuotaGate(services.quotas, () => mounts.at('sys/'));
  return new Pipeline({
    ...{ clock, log, underWay, copies, wrapping, quotas, figures },
    routing: new Routing({ mounts, open, openMount: openMount(services.systemView), sealed }),
    authentication: new Authentication({ ...services, log }),
    logins: new LoginGuard(lockout),
    issuing: new Issuing({ leases, logins }),
    repeats: new RepeatedCalls({ store, clock }),
    unwrapDoor: new UnwrapDoor(),
    audit: new AuditTrail(audit),
  });
}
