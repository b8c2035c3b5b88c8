import { randomBytes, randomUUID } from 'node:crypto';
import type { MountConfig, MountRecord } from '../../kernel/mounts/mount-record.ts';

/** What an operator asks for. */
export interface NewMount {
  readonly path: string;
  readonly class: 'secret' | 'auth';
  readonly type: string;
  readonly description?: string;
  readonly config?: Partial<MountConfig>;
  readonly options?: Readonly<Record<string, string>>;
  readonly local?: boolean;
  readonly seal_wrap?: boolean;
  readonly external_entropy_access?: boolean;
}

/** The record of a mount that did not exist before. */
export function newMountRecord(mount: NewMount, accessorPrefix: string): MountRecord {
  return {
    path: mount.path,
    class: mount.class,
    type: mount.type,
    uuid: randomUUID(),
    accessor: `${accessorPrefix}_${randomBytes(4).toString('hex')}`,
    description: mount.description ?? '',
    config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false, ...mount.config },
    options: mount.options ? { ...mount.options } : mount.class === 'auth' && mount.type !== 'token' ? {} : null,
    local: mount.local ?? false,
    seal_wrap: mount.seal_wrap ?? false,
    external_entropy_access: mount.external_entropy_access ?? false,
  };
}

/** Mounts that exist in every store. `identity/` and the rest get their engines from the core itself. */
export const BUILT_IN_MOUNTS: readonly (NewMount & { accessorPrefix: string })[] = [
  {
    path: 'sys/',
    class: 'secret',
    type: 'system',
    accessorPrefix: 'system',
    description: 'system endpoints used for control, policy and debugging',
    seal_wrap: true,
    config: { passthrough_request_headers: ['Accept'] },
  },
  {
    path: 'identity/',
    class: 'secret',
    type: 'identity',
    accessorPrefix: 'identity',
    description: 'identity store',
    config: { passthrough_request_headers: ['Authorization'] },
  },
  {
    path: 'cubbyhole/',
    class: 'secret',
    type: 'cubbyhole',
    accessorPrefix: 'cubbyhole',
    description: 'per-token private secret storage',
    local: true,
  },
  {
    path: 'auth/token/',
    class: 'auth',
    type: 'token',
    accessorPrefix: 'auth_token',
    description: 'token based credentials',
    config: { token_type: 'default-service' },
  },
];
