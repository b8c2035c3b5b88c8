import type { MountConfig } from './mount-record.ts';

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

/** Mounts that exist in every store. `identity/` and the rest get their engines from the core itself. */
export const BUILT_IN_MOUNTS: readonly (Omit<NewMount, 'config'> & { accessorPrefix: string; config?: Partial<MountConfig> })[] = [
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
