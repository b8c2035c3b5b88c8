import { defaultConfiguration, startServer, type RunningServer } from '@strongroom/server';
import { freePort } from '../src/server-process.ts';

/** A server over memory, with root token `root`, on a free port of this process. */
export async function startMemoryServer(): Promise<{ readonly server: RunningServer; readonly address: string }> {
  const port = await freePort();
  const server = await startServer({
    configuration: {
      ...defaultConfiguration({}),
      storage: { type: 'inmem' },
      listeners: [{ type: 'tcp', host: '127.0.0.1', port, trustedProxies: [], headers: {}, openMetrics: false }],
      logLevel: 'error',
    },
    devRootToken: 'root',
  });
  return { server, address: `http://127.0.0.1:${port}` };
}
