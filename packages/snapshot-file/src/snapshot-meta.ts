import { SnapshotFault } from './snapshot-fault.ts';

/** The format of `state.bin`: entries as storage-sdk's `encodeEntries` writes them, keys ascending. */
export const FORMAT = 'strongroom-1';

/** `meta.json`: what a snapshot says of itself. The names are those that clients of Vault and OpenBao know, as far as they have them. */
export interface SnapshotMeta {
  readonly Version: 1;
  readonly ID: string;
  /** Commits of the server that took it. */
  readonly Index: number;
  /** Of the key that encrypts new records. */
  readonly Term: number;
  /** Bytes of `state.bin`. */
  readonly Size: number;
  readonly Format: typeof FORMAT;
  /** Records in `state.bin`. */
  readonly Entries: number;
  /** The storage that it was taken from. */
  readonly Storage: string;
  readonly ServerVersion: string;
  readonly ClusterID: string;
  readonly ClusterName: string;
  /** RFC 3339. */
  readonly CreatedAt: string;
}

const TEXTS = ['ID', 'Storage', 'ServerVersion', 'ClusterID', 'ClusterName', 'CreatedAt'] as const;
const NUMBERS = ['Index', 'Term', 'Size', 'Entries'] as const;

/** @throws SnapshotFault for what is none, or of another program */
export function readMeta(text: string): SnapshotMeta {
  const found = recordIn(text);
  if (found['Format'] === undefined && found['Configuration'] !== undefined) {
    throw new SnapshotFault(
      'the snapshot was made by Vault or OpenBao, whose stores this server cannot read: see strongroom operator import',
    );
  }
  if (found['Format'] !== FORMAT) {
    throw new SnapshotFault(`the snapshot has the format ${JSON.stringify(found['Format'])}; this version reads ${FORMAT}`);
  }
  if (found['Version'] !== 1) throw new SnapshotFault('failed to read snapshot: Version is not 1 in meta.json');
  const wrong =
    TEXTS.find((name) => typeof found[name] !== 'string') ??
    NUMBERS.find((name) => !Number.isSafeInteger(found[name]) || Number(found[name]) < 0);
  if (wrong !== undefined) throw new SnapshotFault(`failed to read snapshot: ${wrong} is missing in meta.json`);
  return found as unknown as SnapshotMeta;
}

function recordIn(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Record<string, unknown>;
  } catch {
    throw new SnapshotFault('failed to read snapshot: meta.json is no JSON');
  }
  throw new SnapshotFault('failed to read snapshot: meta.json is no JSON object');
}
