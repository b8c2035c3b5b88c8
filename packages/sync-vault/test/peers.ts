import { describeWhere, freePorts, openbaoMissing, startOpenbao } from '@strongroom/lab';
import { defaultConfiguration, startServer } from '../../server/src/index.ts';
import { PeerDoor } from './peer-door.ts';

interface Peer {
  readonly address: string;
  stop(): Promise<void>;
}

/** A second Strongroom, in memory. Its root token is `root`. */
async function startStrongroom(): Promise<Peer> {
  const [port] = (await freePorts(1)) as [number];
  const server = await startServer({
    configuration: {
      ...defaultConfiguration({}),
      storage: { type: 'inmem' },
      listeners: [{ type: 'tcp', host: '127.0.0.1', port, trustedProxies: [], headers: {}, openMetrics: false }],
      logLevel: 'error',
    },
    devRootToken: 'root',
  });
  return { address: `http://127.0.0.1:${port}`, stop: async () => server.stop() };
}

async function behindDoor(peer: Peer): Promise<PeerDoor> {
  const door = await PeerDoor.open(peer);
  const mounts = await door.ask('GET', 'sys/mounts');
  if (!('secret/' in mounts)) await door.ask('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
  return door;
}

/** The same tests against another Strongroom, and against OpenBao where there is one. */
export function describeOnPeers(title: string, body: (start: () => Promise<PeerDoor>) => void): void {
  describeWhere(undefined, `${title}, in another Strongroom`, () => body(startStrongroomDoor));
  describeWhere(openbaoMissing(), `${title}, in OpenBao`, () => body(startOpenbaoDoor));
}

export async function startStrongroomDoor(): Promise<PeerDoor> {
  return behindDoor(await startStrongroom());
}

export async function startOpenbaoDoor(): Promise<PeerDoor> {
  return behindDoor(await startOpenbao());
}
