import { randomBytes } from 'node:crypto';
import type { Core } from '@strongroom/core';

/** A root token in the form that clients know. */
export function newRootToken(): string {
  return `s.${randomBytes(18).toString('base64url').replace(/[-_]/g, 'x')}`;
}

/** Mounts version 2 of key-value at `secret/`, as users of development servers expect. @throws Error with the core's reason */
export async function mountSecret(core: Core, token: string): Promise<void> {
  const answer = await core.handle({
    operation: 'update',
    path: 'sys/mounts/secret',
    token,
    data: { type: 'kv', description: 'key/value secret storage', options: { version: '2' } },
  });
  if (answer.status >= 300) throw new Error(`secret/ cannot be mounted: ${(answer.errors ?? []).join('; ')}`);
}

export interface DevFacts {
  readonly address: string;
  readonly rootToken: string;
  readonly storage: string;
}

/** What a development server says when it is ready, in the words that scripts look for. */
export function devBanner({ address, rootToken, storage }: DevFacts): string {
  return `WARNING! dev mode is enabled! In this mode, Strongroom keeps everything in
memory (storage: ${storage}) and starts unsealed with a known root token. The
authentication token is not stored anywhere; set it yourself:

    $ export STRONGROOM_ADDR='${address}'
    $ export STRONGROOM_TOKEN='${rootToken}'

The server is unsealed, and the unseal key was thrown away. Everything is lost
when it stops.

Root Token: ${rootToken}

Development mode should NOT be used in production installations!
`;
}
