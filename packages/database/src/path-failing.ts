import { path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Connections } from './connections.ts';
import { statusBlock, StatusBlock } from './job-status.ts';
import { recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import { rootStatus, RootStatus } from './root-status.ts';
import type { StaticUsers } from './static-users.ts';

export function failingPaths(host: EngineHost, connections: Connections, users: StaticUsers, roots: RootRotation): readonly AnyPath[] {
  const records = recordsIn(host.storage);
  const failing = path('failing', {
    synopsis: 'What does not work at the moment.',
    description:
      'Static roles whose rotation fails or is of unknown outcome, root rotations likewise, and connections that are out of use.',
    fields: {},
  }).read({
    summary: 'Shows rotations and connections that fail.',
    response: Type.Object({
      static_roles: Type.Record(Type.String(), StatusBlock),
      root_rotations: Type.Record(Type.String(), RootStatus),
      connections: Type.Record(Type.String(), Type.Object({ reason: Type.String() })),
    }),
    handle: async () => {
      const staticRoles: Record<string, StatusBlock> = {};
      for (const [name, role] of await records.staticRoles.entries()) {
        const job = await host.storage.jobStatus(users.job as never, name);
        if (!role.pending && (job?.attempts ?? 0) === 0) continue;
        staticRoles[name] = statusBlock(job, role.last_rotation, role.pending !== undefined);
      }
      const rootRotations: Record<string, RootStatus> = {};
      const broken: Record<string, { reason: string }> = {};
      for (const [name, record] of await records.connections.entries()) {
        const status = rootStatus(record);
        if (status.state === 'unsettled' || status.state === 'failed') {
          const job = await host.storage.jobStatus(roots.job as never, name);
          const late = job?.lastError ? { message: job.lastError.message, time: job.lastError.at.toISOString() } : status.last_error;
          rootRotations[name] = { ...status, last_error: late };
        }
        const reason = connections.quarantine({ name, record });
        if (reason !== undefined) broken[name] = { reason };
      }
      return { data: { static_roles: staticRoles, root_rotations: rootRotations, connections: broken } };
    },
  });
  return [failing];
}
