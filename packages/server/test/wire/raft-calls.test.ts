import { readFileSync } from 'node:fs';
import http from 'node:http';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { recordedCalls, type Difference, type RecordedCall, type WireAnswer } from '@strongroom/engine-testkit';
import { checkConfiguration } from '../../src/config/read-configuration.ts';
import { startServer, type RunningServer } from '../../src/index.ts';
import { ServerLog } from '../../src/log/server-log.ts';

const calls = JSON.parse(readFileSync(new URL('./raft-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const NO_RAFT = 'there is no raft storage: every server of a store is active, and the storage has its own copies';
const OURS = 'what a caller did wrong is a 4xx here';
const absent: Difference = { why: NO_RAFT, status: 404 };

const differences: Readonly<Record<number, Difference>> = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 15, 16, 17, 18].map((call) => [call, absent])),
  9: { why: OURS, status: 400 },
  10: { why: OURS, status: 400 },
  19: { why: NO_RAFT, status: 403 },
  20: { why: NO_RAFT, status: 403 },
  21: { why: NO_RAFT, status: 403 },
};

describe('the recorded calls of backup tools, and those of raft storage', () => {
  let server: RunningServer;
  beforeAll(async () => {
    const text = 'listener "tcp" { address = "127.0.0.1:0", tls_disable = true }\napi_addr = "http://127.0.0.1:8200"';
    const configuration = checkConfiguration([{ file: 'server.hcl', text }], { env: {}, dev: true });
    const log = new ServerLog({ level: 'info', format: 'json', write: () => undefined });
    server = await startServer({ configuration, log, devRootToken: 'root' });
  });
  afterAll(async () => server.stop());

  recordedCalls({ test }, { calls, differences, ask: (call, asked) => overHttp(server.addresses[0]!, call, asked) });
});

async function overHttp(
  address: string,
  call: string,
  { body, token, headers = {} }: { body?: unknown; token?: string | undefined; headers?: Readonly<Record<string, string>> | undefined },
): Promise<WireAnswer> {
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
