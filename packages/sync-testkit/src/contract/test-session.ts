import { silentLog } from '@strongroom/engine-sdk';
import {
  createNetworkGuard,
  type DestinationHost,
  type DestinationSession,
  type NetworkGuardOptions,
  type OwnershipMark,
  type PutRequest,
} from '@strongroom/sync-sdk';

/** The ownership mark of everything that a `TestSession` writes. */
export const TEST_MARK: OwnershipMark = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };
const NEVER = new AbortController().signal;

/** A session of a plugin, with a short form of `put`. */
export interface TestSession extends DestinationSession {
  /** A put with `TEST_MARK`, no tags and no deadline, unless `more` has others. */
  write(name: string, value: string, more?: Partial<PutRequest>): ReturnType<DestinationSession['put']>;
}

/** Whom a test session trusts, and as whom it logs in. */
export interface TestSessionOptions<A> {
  /** The certificate authority of the test server, in PEM. By default those of Node. */
  readonly ca?: NetworkGuardOptions['ca'];
  /** The shared account that the connection names. */
  readonly account?: A | undefined;
  /** The clock of the host. By default that of the machine. */
  readonly now?: () => Date;
  /** The `cluster_id` of the host. By default it has none. */
  readonly cluster?: string;
}

/** Opens a session that may reach every network. Closing it closes the network as well. */
export async function openTestSession<C, A = unknown>(
  plugin: { open(connection: C, host: DestinationHost<A>): Promise<DestinationSession> },
  connection: C,
  { ca, account, cluster, now = () => new Date() }: TestSessionOptions<A> = {},
): Promise<TestSession> {
  const rules = { allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true };
  const network = createNetworkGuard(rules, ca === undefined ? {} : { ca });
  const own = { ...(account === undefined ? {} : { account }), ...(cluster === undefined ? {} : { cluster }) };
  const host = { log: silentLog, now, network, ...own };
  const session = await plugin.open(connection, host);
  return {
    read: (request) => session.read(request),
    put: (request) => session.put(request),
    remove: (request) => session.remove(request),
    list: (request) => session.list(request),
    ...(session.count ? { count: (signal: AbortSignal) => session.count!(signal) } : {}),
    close: async () => {
      await session.close();
      await network.close();
    },
    write: (name, value, more) => session.put({ name, value, mark: TEST_MARK, tags: {}, operationId: 'one', signal: NEVER, ...more }),
  };
}
