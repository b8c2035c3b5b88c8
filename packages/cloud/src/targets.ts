import type { EngineHost } from '@strongroom/engine-sdk';
import { recordsIn } from './records.ts';

/** What circuit breakers guard: users of one account, keys of a former root credential, one rotation. What is in another account holds up no other. */
export const accountTarget = (host: EngineHost, account?: string): string =>
  `mount ${host.mount.path}${account === undefined || account === '' ? '' : `, account ${account}`}`;
export const formerRootTarget = (host: EngineHost): string => `mount ${host.mount.path}, former root`;
export const rotationTarget = (host: EngineHost, called: string): string => `mount ${host.mount.path}, ${called}`;

/** The root credential was written, which may be what was in the way: all that failed with the old one is tried again now. */
export async function retryAll(host: EngineHost, called: { readonly root: string; role(name: string): string }): Promise<void> {
  const { users, staticRoles } = recordsIn(host.storage);
  const roles = await staticRoles.entries();
  const accounts = new Set([...(await users.entries()), ...roles].flatMap(([, { account }]) => account ?? []));
  const rotations = roles.filter(([, { pending, last_error }]) => pending ?? last_error).map(([name]) => called.role(name));
  const targets = [
    accountTarget(host),
    ...[...accounts].map((account) => accountTarget(host, account)),
    formerRootTarget(host),
    ...[called.root, ...rotations].map((what) => rotationTarget(host, what)),
  ];
  for (const target of targets) await host.retry(target);
}
