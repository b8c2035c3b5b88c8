import {
  type AnyPath,
  BadRequest,
  DurationError,
  type EngineHost,
  f,
  formatDuration,
  NoContent,
  parseDuration,
  path,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { shorterThanAsked } from './lease-terms.ts';
import { LEASE, recordsIn } from './records.ts';

export function configLeasePaths(host: EngineHost): readonly AnyPath[] {
  const records = recordsIn(host.storage);
  const config = path('config/lease', {
    synopsis: 'How long the leases of users last.',
    description: "Until it is written, the mount's own terms hold. Temporary credentials have a ttl of their own.",
    fields: {
      lease: f.string('Length of a lease: a number with a unit, the largest of which is h.'),
      lease_max: f.string('Length that renewals can reach, in the same form.'),
    },
  })
    .read({
      summary: 'Reads the terms.',
      response: Type.Object({ lease: Type.String(), lease_max: Type.String() }),
      handle: async () => {
        const record = await records.lease.get(LEASE);
        return record && { data: { lease: formatDuration(record.lease), lease_max: formatDuration(record.lease_max) } };
      },
    })
    .upsert({
      summary: 'Sets the terms, both of them.',
      response: NoContent,
      exists: async () => records.lease.has(LEASE),
      handle: async (req) => {
        const lease = durationOf('lease', req.data.lease);
        const most = durationOf('lease_max', req.data.lease_max);
        if (most > 0 && lease > most)
          throw new BadRequest(`lease (${req.data.lease}) must not be longer than lease_max (${req.data.lease_max})`);
        await records.lease.put(LEASE, { lease, lease_max: most });
        const { maxLeaseTtl } = host.mount;
        const warnings = [...cut('lease', lease, maxLeaseTtl), ...cut('lease_max', most, maxLeaseTtl)];
        return warnings.length === 0 ? undefined : { warnings };
      },
    });
  return [config];
}

function cut(field: 'lease' | 'lease_max', asked: number, most: number): string[] {
  return shorterThanAsked(asked, most, 'max_lease_ttl of the mount').map((text) => `${field}: ${text}`);
}

function durationOf(field: 'lease' | 'lease_max', text: string | undefined): number {
  if (text === undefined || text === '') throw new BadRequest(`'${field}' is a required parameter`);
  const problem = (what: string): BadRequest => new BadRequest(`Invalid ${field}: ${what}`);
  if (/^[+-]?\d+$/.test(text) && Number(text) !== 0) throw problem(`time: missing unit in duration ${JSON.stringify(text)}`);
  if (/^[+-]?\d+d$/.test(text)) throw problem(`time: unknown unit "d" in duration ${JSON.stringify(text)}`);
  let seconds: number;
  try {
    seconds = parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw problem(error.message);
    throw error;
  }
  if (seconds < 0) throw problem('it must not be negative');
  return seconds;
}
