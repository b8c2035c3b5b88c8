import { createCore, type Core } from '@strongroom/core';
import { doorEngine, type Doors } from '@strongroom/example-embed-in-express';
import { memoryStorage } from '@strongroom/storage-sdk';

/** What an operator would write to `sys/mounts/<path>`. The path is free and may have several segments. */
const mounts = {
  'house/staff': {
    type: 'door',
    description: 'Codes for those who work here.',
    options: { code_length: '12' },
    config: { default_lease_ttl: '8h', max_lease_ttl: '24h' },
  },
  'house/visitors': {
    type: 'door',
    description: 'Codes for a short visit.',
    options: { code_length: '6' },
    config: { default_lease_ttl: '10m', max_lease_ttl: '1h' },
  },
};

/** A core in memory with one engine mounted twice. Each mount has its own settings, roles, leases and policies. */
export async function buildingCore(doors: Doors, rootToken: string): Promise<Core> {
  const core = await createCore({ storage: memoryStorage(), plugins: [doorEngine(doors)], devRootToken: rootToken });
  const write = async (path: string, data: Record<string, unknown>): Promise<void> => {
    const { status, errors } = await core.handle({ operation: 'update', path, data, token: rootToken });
    if (errors) throw new Error(`${path}: ${status} ${errors.join('; ')}`);
  };
  for (const [path, mount] of Object.entries(mounts)) await write(`sys/mounts/${path}`, mount);
  await write('sys/policies/acl/reception', { policy: 'path "house/visitors/codes/*" { capabilities = ["read"] }' });
  return core;
}
