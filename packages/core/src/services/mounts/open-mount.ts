import type { MountStorage } from '../../kernel/mounts/mount-storage.ts';
import { Mount, systemLimits } from '../../kernel/mounts/mount.ts';

const record = {
  path: 'sys/',
  class: 'secret',
  type: 'system',
  uuid: 'open',
  accessor: '',
  description: '',
  config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false },
  options: null,
  local: false,
  seal_wrap: false,
  external_entropy_access: false,
} as const;

const engine = { name: 'system', kind: 'secret', apiVersion: 2, create: () => ({ paths: [] }) } as const;

/** Where the always open paths belong before there is a mount table. */
export function openMount(storage: MountStorage): Mount {
  return new Mount(record, engine, () => storage, systemLimits);
}
