import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { checkMountOptions } from './mount-options.ts';
import { MountFormat } from './mount-format.ts';
import { plainPaths } from './v1/plain-paths.ts';
import { secretSource } from './v2/secret-source.ts';
import { versionedPaths } from './v2/versioned-paths.ts';

const UNKNOWN_PATH =
  'Invalid path for a versioned K/V secrets engine. See the API docs for the appropriate API endpoints to use. ' +
  "If using the OpenBao CLI, use 'bao kv get' for this operation.";

/** Key-value secrets: version 1 keeps one value a path, version 2 keeps numbered versions of it. */
export const kvEngine: EnginePackage = {
  name: 'kv',
  kind: 'secret',
  apiVersion: API_VERSION,
  version: '0.1.0',
  aliases: { 'kv-v1': { version: '1' }, 'kv-v2': { version: '2' } },
  checkOptions: checkMountOptions,
  create: createKvEngine,
};

function createKvEngine(host: EngineHost): Engine {
  const format = new MountFormat(host);
  const plain = plainPaths(host, format);
  const versioned = versionedPaths(host, format);
  const source = secretSource(host);
  return {
    /** Another array once the mount is versioned. */
    get paths() {
      return format.versioned ? versioned : plain;
    },
    /** Version 1 keeps no versions, so it offers none. */
    get source() {
      return format.versioned ? source : undefined;
    },
    schedules: [format.upgradeJob],
    unknownPathWarning: UNKNOWN_PATH,
    initialize: async () => format.open(),
    tuned: async () => format.tuned(),
    close: async () => format.close(),
  };
}
