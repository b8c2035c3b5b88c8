import http from 'node:http';
import type { WireAnswer } from '@strongroom/engine-testkit';
import { checkConfiguration } from '../../src/config/read-configuration.ts';
import { startServer, type RunningServer } from '../../src/index.ts';
import { ServerLog } from '../../src/log/server-log.ts';

const CONFIGURATION = 'listener "tcp" { address = "127.0.0.1:0", tls_disable = true }\napi_addr = "http://127.0.0.1:8200"';

/** One call as the recordings have it. */
interface Asked {
  readonly body?: unknown;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A whole server in memory, whose root token is `root`, that recorded calls reach over HTTP. */
export async function startWireServer(): Promise<{ ask(call: string, asked: Asked): Promise<WireAnswer>; stop(): Promise<void> }> {
  const configuration = checkConfiguration([{ file: 'server.hcl', text: CONFIGURATION }], { env: {}, dev: true });
  const log = new ServerLog({ level: 'info', format: 'json', write: () => undefined });
  const server: RunningServer = await startServer({ configuration, log, devRootToken: 'root' });
  return { ask: async (call, asked) => overHttp(server.addresses[0]!, call, asked), stop: async () => server.stop() };
}

async function overHttp(address: string, call: string, { body, token, headers = {} }: Asked): Promise<WireAnswer> {
  const [method, path] = call.split(' ') as [string, string];
  const sent = { ...headers, ...(token === undefined ? {} : { 'x-vault-token': token }) };
  return new Promise((resolve, reject) => {
    const request = http.request(`${address}/v1/${path}`, { method, agent: false, headers: sent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const json = response.headers['content-type']?.startsWith('application/json') === true;
        const found = text === '' ? undefined : json ? (JSON.parse(text) as unknown) : text;
        resolve({ status: response.statusCode ?? 0, body: found, headers: response.headers as Record<string, string> });
      });
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
