import { f, NoContent, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { LEASE, recordsIn } from './records.ts';

export function leasePath(host: EngineHost): AnyPath {
  const { lease } = recordsIn(host.storage);
  return path('config/lease', {
    synopsis: 'How long the leases of users last.',
    description: "A write sets both. Until there is one, and for 0, the mount's own terms apply.",
    fields: {
      ttl: f.duration("Length of a lease; 0 for the mount's default.", { default: 0 }),
      max_ttl: f.duration("Length that renewals can reach; 0 for the mount's maximum.", { default: 0 }),
    },
  })
    .read({
      summary: 'Reads the terms of leases.',
      response: Type.Object({ ttl: Type.Number({ description: 'Seconds.' }), max_ttl: Type.Number({ description: 'Seconds.' }) }),
      handle: async () => {
        const record = await lease.get(LEASE);
        return record && { data: record };
      },
    })
    .upsert({
      summary: 'Sets the terms of leases.',
      response: NoContent,
      exists: async () => lease.has(LEASE),
      handle: async ({ data: { ttl, max_ttl } }) => {
        await lease.put(LEASE, { ttl, max_ttl });
        const most = host.mount.maxLeaseTtl;
        const warnings = [
          ...(ttl > most || max_ttl > most ? [`leases of this mount last at most ${most} s (max_lease_ttl), and end by then`] : []),
          ...(max_ttl > 0 && ttl > max_ttl ? [`ttl (${ttl} s) is longer than max_ttl (${max_ttl} s); leases end by that`] : []),
        ];
        return warnings.length === 0 ? undefined : { warnings };
      },
    });
}
