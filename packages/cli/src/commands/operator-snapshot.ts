import { randomBytes } from 'node:crypto';
import type { SnapshotMeta } from '@strongroom/snapshot-file';
import { defineCommand, type CommandGroup, type Example } from '../command.ts';
import { textOf } from '../client.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { reasonOf } from '../file-failure.ts';
import { flag } from '../flag.ts';
import { auto } from './operator-snapshot-auto.ts';

const PATH = 'sys/storage/raft/snapshot';

const save = defineCommand({
  name: 'save',
  synopsis: 'Save a snapshot of the store to a file',
  description:
    'Takes a snapshot while the server works, checks it while it arrives, and gives it the name FILE only when it is whole. A file of that name is replaced. The snapshot is encrypted; whoever has it and the unseal keys has everything.',
  args: ['FILE'],
  flags: {},
  examples: [{ text: 'Back up the store:', command: 'operator snapshot save backup.snap' }],
  async run({ args: [file = ''], out, client }) {
    const { body } = await doing('Error taking the snapshot', client().stream('GET', PATH));
    const meta = await saved(file, body);
    out.success(`Saved ${meta.Entries} records of ${meta.ClusterName} to ${file}; the checksums are right.`);
  },
});

const restore = defineCommand({
  name: 'restore',
  synopsis: 'Restore the store from a snapshot',
  description:
    'Puts the content of the snapshot in the place of everything that the server stores. FILE is checked before anything is sent, and again by the server before anything is changed. The server seals itself, and opens again with the keys that it has.',
  args: ['FILE'],
  flags: {
    force: flag.boolean('Also a snapshot of another cluster, or of other keys: the server has to be unsealed with those then.'),
  },
  examples: [
    { text: 'Go back to a backup:', command: 'operator snapshot restore backup.snap' },
    { text: 'Bring up a new server from the backup of another:', command: 'operator snapshot restore -force backup.snap' },
  ],
  async run({ args: [file = ''], flags, out, client }) {
    const { meta, bytes } = await inspected(file);
    const { createReadStream } = await import('node:fs');
    const body = { pieces: createReadStream(file), length: bytes };
    const reply = await doing('Error restoring the snapshot', client().stream('POST', flags.force ? `${PATH}-force` : PATH, body));
    const text = await textOf(reply);
    out.success(`Restored ${meta.Entries} records of ${meta.ClusterName} from ${meta.CreatedAt}.`);
    const secret = text === '' ? undefined : client().parse(text);
    if (secret) out.warnings(secret);
  },
});

const inspect = defineCommand({
  name: 'inspect',
  synopsis: 'Show what is in a snapshot, and check it',
  description: 'Needs no server. Reads FILE to its end and checks its checksums. The names of records are readable, their values are not.',
  args: ['FILE'],
  local: true,
  flags: {},
  examples: [{ text: 'Is the backup whole?', command: 'operator snapshot inspect backup.snap' }],
  async run({ args: [file = ''], out }) {
    const { meta, bytes, areas } = await inspected(file);
    await out.record({
      id: meta.ID,
      created_at: meta.CreatedAt,
      cluster_id: meta.ClusterID,
      cluster_name: meta.ClusterName,
      entries: meta.Entries,
      file_bytes: bytes,
      format: meta.Format,
      key_term: meta.Term,
      server_version: meta.ServerVersion,
      state_bytes: meta.Size,
      storage: meta.Storage,
      ...Object.fromEntries([...areas].map(([area, count]) => [`records ${area}`, count])),
    });
    out.success('The snapshot is whole, and its checksums are right.');
  },
});

/** Writes a snapshot beside the file, and gives it the name of the file once it is whole and on the disk. */
async function saved(file: string, body: AsyncIterable<Uint8Array>): Promise<SnapshotMeta> {
  const [{ open, rename, rm }, { readSnapshot }] = await Promise.all([import('node:fs/promises'), import('@strongroom/snapshot-file')]);
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`;
  const target = await open(partial, 'wx', 0o600).catch((error: Error) => {
    throw new Failure(`Error writing the snapshot: ${reasonOf(error, file)}`);
  });
  async function* written(): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      await target.writeFile(piece);
      yield piece;
    }
  }
  try {
    const { meta } = await readSnapshot(written());
    await target.sync();
    await target.close();
    await rename(partial, file);
    return meta;
  } catch (error) {
    await target.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw new Failure(`Error saving the snapshot, and nothing is left of it: ${(error as Error).message}`, EXIT.remote);
  }
}

/** Reads the whole file and checks it. `areas`: how many records there are below the first parts of their names. */
async function inspected(file: string): Promise<{ meta: SnapshotMeta; bytes: number; areas: ReadonlyMap<string, number> }> {
  const [{ createReadStream }, { stat }] = await Promise.all([import('node:fs'), import('node:fs/promises')]);
  const [{ readSnapshot }, { decodeEntries }] = await Promise.all([import('@strongroom/snapshot-file'), import('@strongroom/storage-sdk')]);
  const areas = new Map<string, number>();
  try {
    const { size } = await stat(file);
    const { meta } = await readSnapshot(createReadStream(file), {
      state: async (state) => {
        for await (const entries of decodeEntries(state)) {
          for (const { key } of entries) {
            const area = key.slice(0, key.indexOf('/') + 1) || key;
            areas.set(area, (areas.get(area) ?? 0) + 1);
          }
        }
      },
    });
    return { meta, bytes: size, areas };
  } catch (error) {
    throw new Failure(`Error reading the snapshot: ${reasonOf(error as Error, file)}`);
  }
}

const commands = [save, restore, inspect];

export const snapshot: CommandGroup = {
  name: 'snapshot',
  synopsis: 'Save, check and restore backups of the store',
  description: 'A snapshot is a consistent backup of all that the server stores, taken while it works.',
  subcommands: [...commands, auto],
};

/** The words of Vault and OpenBao. */
export const raft: CommandGroup = {
  name: 'raft',
  synopsis: 'Snapshots, with the commands of Vault and OpenBao',
  description: 'Strongroom has no raft storage; these are the commands of `operator snapshot`.',
  subcommands: [{ ...snapshot, subcommands: commands.map((command) => ({ ...command, examples: command.examples.map(byRaft) })) }],
};

function byRaft({ text, command }: Example): Example {
  return { text, command: command.replace('operator snapshot', 'operator raft snapshot') };
}
