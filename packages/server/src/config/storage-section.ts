import type { StorageChoice } from './configuration.ts';
import type { Block, Section } from './section.ts';
import { listed, shown } from './section.ts';
import { readEtcd } from './etcd-section.ts';
import { secretText } from './secret-text.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What replaces `connection_url`, wherever the configuration has it from; the first that is set counts. */
const CONNECTION_URL = ['STRONGROOM_PG_CONNECTION_URL', 'BAO_PG_CONNECTION_URL', 'VAULT_PG_CONNECTION_URL'];

const OFFERED = ['lmdb', 'postgresql', 'etcd', 'inmem'];
const OF_VAULT =
  'raft consul mysql cassandra cockroachdb dynamodb s3 gcs azure zookeeper swift spanner couchdb foundationdb manta oci aerospike mssql'.split(
    ' ',
  );
const NO_HA = 'every node of a shared storage is active';

/** The storage of the last file that names one; undefined when none does, or it is faulty. */
export function readStorage(top: Section, dataFolder: string, env: Environment): StorageChoice | undefined {
  const blocks = [...top.blocks('storage', 1), ...top.blocks('backend', 1)];
  const choices = blocks.map((block) => readBlock(block, dataFolder, env));
  const sameFile = blocks.filter(({ place }) => place.file === blocks.at(-1)?.place.file);
  if (sameFile.length > 1) sameFile.at(-1)!.section.complainHere('a second storage: there can be one only');
  return choices.at(-1);
}

/** The one block of that name, which names a storage; complained about where there is none or more. */
export function readOneStorage(top: Section, name: string, env: Environment): StorageChoice | undefined {
  const blocks = top.blocks(name, 1);
  const [block] = blocks;
  if (!block || blocks.length > 1) {
    top.complainHere(`there must be one ${name} block, such as ${name} "lmdb" { path = "/var/lib/strongroom" }`);
    return undefined;
  }
  if (block.labels[0] === 'inmem') block.section.complainHere('a storage in memory cannot be migrated');
  else if (['lmdb', 'file'].includes(block.labels[0] ?? '') && !block.section.has('path')) block.section.complainHere('path is required');
  return readBlock(block, '', env);
}

function readBlock({ labels: [type = ''], section }: Block, dataFolder: string, env: Environment): StorageChoice | undefined {
  let choice: StorageChoice | undefined;
  switch (type) {
    case 'inmem':
      choice = { type };
      break;
    case 'lmdb':
    case 'file':
      choice = readLmdb(section, dataFolder);
      if (type === 'file') section.notice('path', 'keeps an LMDB store: one file in this folder; data of another server are not read');
      break;
    case 'postgresql':
      choice = readPostgresql(section, env);
      break;
    case 'etcd':
      choice = readEtcd(section, env);
      break;
    default:
      section.complainHere(reasonAgainst(type));
      return undefined;
  }
  section.done();
  return choice;
}

function readLmdb(section: Section, dataFolder: string): StorageChoice {
  const mapSizeBytes = section.bytes('map_size', { min: 1024 * 1024 });
  const residentBytes = section.bytes('resident_size', { min: 1024 * 1024 });
  return {
    type: 'lmdb',
    path: section.text('path') ?? dataFolder,
    ...(mapSizeBytes === undefined ? {} : { mapSizeBytes }),
    ...(residentBytes === undefined ? {} : { residentBytes }),
  };
}

function readPostgresql(section: Section, env: Environment): StorageChoice | undefined {
  const written = secretText(section, 'connection_url', env);
  const connectionUrl = CONNECTION_URL.map((name) => env[name]).find(Boolean) ?? written;
  const table = section.text('table');
  const poolSize = section.integer('max_parallel', { min: 2, max: 1000 });
  section.ignore({
    ha_enabled: NO_HA,
    ha_table: NO_HA,
    max_idle_connections: 'idle connections are kept as long as they are of use',
    skip_create_table: 'tables are created only when they are missing',
    upsert_function: 'no server so old is supported',
    max_connect_retries: 'a lost connection is tried again for as long as it takes',
  });
  if (table !== undefined && !/^\w{1,40}$/.test(table)) section.complain('table', 'must be letters, digits and "_", at most 40');
  if (connectionUrl === undefined) {
    // What is named and cannot be read has been complained about.
    if (section.text('connection_url') === undefined)
      section.complainHere(
        'connection_url is required, such as "postgresql://user:password@host:5432/database", env://NAME or file://path',
      );
    return undefined;
  }
  if (!/^postgres(?:ql)?:\/\//.test(connectionUrl)) section.complain('connection_url', 'must begin with postgresql://');
  else
    return {
      type: 'postgresql',
      connectionUrl,
      ...(table === undefined ? {} : { table }),
      ...(poolSize === undefined ? {} : { poolSize }),
    };
  return undefined;
}

function reasonAgainst(type: string): string {
  const instead = 'use "lmdb" for one machine, or "postgresql" or "etcd" for many';
  return OF_VAULT.includes(type)
    ? `this storage is not offered: ${instead}`
    : `${shown(type)} is not a storage type; it must be ${listed(OFFERED)}`;
}
