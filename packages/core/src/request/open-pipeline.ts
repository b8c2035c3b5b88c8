import type { Kernel } from '../kernel/kernel.ts';
import type { PathRouter } from '../kernel/mounts/path-router.ts';
import { openMount } from '../services/mounts/open-mount.ts';
import type { Services } from '../services/services.ts';
import { AuditTrail } from './audit-trail.ts';
import { Authentication } from './authentication.ts';
import { Issuing } from './issuing.ts';
import { LoginGuard } from './login-guard.ts';
import { Pipeline, type PipelineParts } from './pipeline.ts';
import { QuotaGate } from './quota-gate.ts';
import { RepeatedCalls } from './repeated-calls.ts';
import { Routing } from './routing.ts';
import { UnwrapDoor } from './unwrap-door.ts';

export interface PipelineOptions extends Pick<PipelineParts, 'onAnswer'> {
  /** The paths that answer everybody, sealed or not. */
  readonly open: PathRouter;
  sealed(): boolean;
}

/** Puts the steps of a request together. */
export function openPipeline(kernel: Kernel, services: Services, { open, sealed, onAnswer }: PipelineOptions): Pipeline {
  const { clock, log, tracer, store, copies, changesInStep } = kernel;
  const { underWay, mounts, lockout, leases, logins, wrapping, audit, figures } = services;
  const quotas = new QuotaGate(services.quotas, () => mounts.at('sys/'));
  return new Pipeline({
    ...{ clock, log, tracer, underWay, mounts, copies, changesInStep, wrapping, quotas, figures, onAnswer },
    routing: new Routing({ mounts, open, openMount: openMount(services.systemView), sealed }),
    authentication: new Authentication({ ...services, log }),
    logins: new LoginGuard(lockout),
    issuing: new Issuing({ leases, logins }),
    repeats: new RepeatedCalls({ store, clock }),
    unwrapDoor: new UnwrapDoor(),
    audit: new AuditTrail(audit),
  });
}
