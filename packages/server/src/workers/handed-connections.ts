import cluster, { type Worker } from 'node:cluster';

/** What Node sends a worker with a connection, until the worker says that it has taken it. */
interface Handing {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/** Milliseconds until all that a worker said before its end has been heard. */
const LAST_WORDS = 20;

interface Connection {
  close(): void;
}

type Send = (message: unknown, connection?: unknown, ...rest: unknown[]) => boolean;

/**
 * Sees to it that a connection which was handed to a worker finds another one where the worker ends before it takes it. Node forgets such connections:
 * their clients would wait for ever. The message is that of Node's own protocol; where a version has another one, nothing is done.
 */
export function rescueHandedConnections(worker: Worker): void {
  const handed = new Map<number, { readonly message: Handing; readonly connection: Connection }>();
  const child = worker.process;
  const send = child.send.bind(child) as Send;
  const watched: Send = (message, connection, ...rest) => {
    const handing = message as Handing;
    if (handing.cmd === 'NODE_CLUSTER' && handing.act === 'newconn' && handing.seq !== undefined && connection)
      handed.set(handing.seq, { message: handing, connection: connection as Connection });
    return send(message, connection, ...rest);
  };
  child.send = watched as typeof child.send;
  child.on('internalMessage', ({ ack }: Handing) => {
    if (ack !== undefined) handed.delete(ack);
  });
  const rescue = (): void => {
    for (const { message, connection } of handed.values()) {
      const other = Object.values(cluster.workers ?? {}).find(
        (one) => one !== worker && (one as { state?: string } | undefined)?.state === 'listening',
      );
      // The answer goes to whom the first one would have: Node closes its copy then.
      if (other?.isConnected()) (other.process.send as Send)(message, connection);
      else connection.close();
    }
    handed.clear();
  };
  // What it still said is heard first. There is no event for that: Node waits for the answer of the dead before it reports the end of the channel.
  child.once('exit', () => setTimeout(rescue, LAST_WORDS));
}
