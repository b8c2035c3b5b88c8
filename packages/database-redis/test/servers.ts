import { join } from 'node:path';
import { describeWhere, findValkey, redisMissing, startRedis } from '@strongroom/lab';

const valkey = await findValkey();

/** A Valkey, where it can be had. */
const startValkey: typeof startRedis = async (options) =>
  startRedis({ ...options, program: join('folder' in valkey ? valkey.folder : '', 'run'), words: ['/usr/bin/valkey-server'] });

/** The same tests against Redis and against Valkey, each where it can be had. */
export function describeOnServers(title: string, body: (start: typeof startRedis) => void): void {
  describeWhere(redisMissing, `${title}, on Redis`, () => body(startRedis));
  describeWhere('missing' in valkey ? valkey.missing : undefined, `${title}, on Valkey`, () => body(startValkey));
}
