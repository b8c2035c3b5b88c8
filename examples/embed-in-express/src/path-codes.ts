import { f, issue, leased, NotFound, path, UpstreamFailed, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Doors } from './doors.ts';
import type { CodeIntent } from './intent-code.ts';
import { roles } from './path-roles.ts';
import type { CodeSecret } from './secret-code.ts';

export interface CodePathDeps {
  readonly doors: Doors;
  readonly host: EngineHost;
  readonly secret: CodeSecret;
  readonly intent: CodeIntent;
  /** Characters of a code. */
  readonly length: number;
}

export function codePath({ doors, host, secret, intent, length }: CodePathDeps): AnyPath {
  return path('codes/{role}', {
    synopsis: 'Codes that open a door.',
    description: 'Each read makes a new code. It opens the door until its lease ends or is revoked.',
    fields: { role: f.name('Name of the role.') },
  }).read({
    summary: 'Makes a code.',
    response: leased(Type.Object({ door: Type.String(), code: Type.String({ secret: true }) })),
    handle: async ({ data, storage }) => {
      const role = await roles(storage).get(data.role);
      if (!role) throw new NotFound(`there is no role ${JSON.stringify(data.role)}`);
      const made = { door: role.door, code: Buffer.from(host.randomBytes(length)).toString('hex').slice(0, length) };
      const open = await storage.transaction(async (tx) => tx.intend(intent, made));
      try {
        doors.allow(made.door, made.code);
      } catch (cause) {
        await storage.transaction(async (tx) => tx.abandon(open));
        throw new UpstreamFailed(`the door ${JSON.stringify(made.door)} did not take the code`, { cause });
      }
      return {
        data: made,
        secret: issue(secret, {
          internal: { ...made, ttl: role.ttl, max_ttl: role.max_ttl },
          terms: { ttl: role.ttl, maxTtl: role.max_ttl },
          fulfils: open,
        }),
      };
    },
  });
}
