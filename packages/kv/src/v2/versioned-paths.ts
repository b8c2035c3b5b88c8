import type { AnyPath, EngineHost, Op, Operations } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import type { FormatGuard } from '../format-guard.ts';
import { configPath } from './path-config.ts';
import { dataPath } from './path-data.ts';
import { detailedMetadataPath } from './path-detailed-metadata.ts';
import { importPath } from './path-import.ts';
import { metadataPath } from './path-metadata.ts';
import { subkeysPath } from './path-subkeys.ts';
import { versionsPaths } from './path-versions.ts';

/** Version 2. During the upgrade every operation says that it is under way. */
export function versionedPaths(host: EngineHost, format: FormatGuard): readonly AnyPath[] {
  const paths = [
    configPath(),
    dataPath(host),
    ...versionsPaths(host),
    metadataPath(host),
    detailedMetadataPath(),
    subkeysPath(host),
    importPath(),
  ];
  for (const { operations } of paths) gate(operations, async () => format.requireVersioned());
  return paths;
}

const OPERATIONS = ['read', 'list', 'scan', 'delete', 'patch', 'update'] as const;

function gate(operations: Operations, pass: () => Promise<void>): void {
  for (const name of OPERATIONS) {
    const op = operations[name];
    if (op) operations[name] = gated(op, pass);
  }
}

function gated(op: Op<TProperties, TSchema>, pass: () => Promise<void>): Op<TProperties, TSchema> {
  return {
    ...op,
    handle: async (req) => {
      await pass();
      return op.handle(req);
    },
  };
}
