import { API_VERSION, randomPaths, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { autoRotation } from './keys/auto-rotation.ts';
import { KeyStore } from './keys/key-store.ts';
import { backupPaths } from './paths/path-backup.ts';
import { certificatePaths } from './paths/path-certificates.ts';
import { deriveKeyPaths } from './paths/path-derive-key.ts';
import { encryptPaths } from './paths/path-encrypt.ts';
import { exportPaths } from './paths/path-export.ts';
import { importPaths } from './paths/path-import.ts';
import { keyConfigPaths } from './paths/path-key-config.ts';
import { hashPaths } from './paths/path-hash.ts';
import { keyPaths } from './paths/path-keys.ts';
import { mountConfigPaths } from './paths/path-mount-config.ts';
import { signPaths } from './paths/path-sign.ts';

/** Encryption as a service: keys that stay in the server, and what they are used for. */
export const transitEngine: EnginePackage = {
  name: 'transit',
  kind: 'secret',
  apiVersion: API_VERSION,
  version: '0.1.0',
  create: createTransitEngine,
};

function createTransitEngine(host: EngineHost): Engine {
  const keys = new KeyStore(host);
  return {
    paths: [
      ...keyPaths(host, keys),
      ...keyConfigPaths(keys),
      ...encryptPaths(keys),
      ...signPaths(keys),
      ...mountConfigPaths(keys),
      ...hashPaths(),
      ...randomPaths('random', (count) => host.randomBytes(count)),
      ...importPaths(host, keys),
      ...exportPaths(keys),
      ...backupPaths(host, keys),
      ...deriveKeyPaths(host, keys),
      ...certificatePaths(keys),
    ],
    schedules: [autoRotation(host, keys)],
    initialize: async () => keys.open(),
    close: async () => keys.close(),
  };
}
