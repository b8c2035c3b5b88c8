import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { Coverage } from '../src/fuzz/coverage.ts';
import { withExamples, withKnownNames } from '../src/fuzz/document.ts';
import { fuzz } from '../src/fuzz/fuzz-run.ts';
import { startRecorder, type Recorder } from '../src/fuzz/recorder.ts';
import { findSchemathesis } from '../src/fuzz/schemathesis.ts';
import { LogFaults, outsideFault } from '../src/fuzz/verdict.ts';

const python = findSchemathesis();
const missing = python === undefined ? 'schemathesis is not installed (npm test and npm run fuzz install it)' : undefined;

describeWhere(missing, 'the OpenAPI document, fuzzed by schemathesis', () => {
  jest.setTimeout(600_000);

  test('gives no 5xx while outside systems are up, and leaves no fault in the log', async () => {
    let requests = 0;
    // On a busy machine schemathesis may take most of its time to begin.
    for (const seconds of [40, 80, 160]) {
      const report = await fuzz({ python: python!, seconds, seed: 11 });
      expect(report.problems).toEqual([]);
      requests += report.requests;
      if (requests > 200) break;
    }
    expect(requests).toBeGreaterThan(200);
  });
});

describe('what the fuzz reports', () => {
  let server: Server | undefined;
  let recorder: Recorder | undefined;
  afterEach(async () => {
    await recorder?.stop();
    server?.closeAllConnections();
    server?.close();
  });

  async function listening(answer: (url: string) => number): Promise<Recorder> {
    const started = createServer((call, response) => {
      const status = answer(call.url ?? '');
      if (status === 0) response.destroy();
      else response.writeHead(status).end(`answer ${status}`);
    });
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
    const held = (_method: string, target: string): string | undefined => (target === '/held' ? 'held back' : undefined);
    recorder = await startRecorder(address, held, () => undefined);
    return recorder;
  }

  test('is every 5xx and every connection that ends without an answer, with what was sent', async () => {
    const { address, troubles, statuses } = await listening((url) => Number(url.slice(1)));
    await fetch(`${address}/200`);
    await fetch(`${address}/400`);
    await fetch(`${address}/503`, { method: 'PATCH', body: 'sent', headers: { 'content-type': 'text/plain' } });
    await fetch(`${address}/0`).catch(() => undefined);
    expect(troubles).toMatchObject([
      { method: 'PATCH', target: '/503', status: 503, answer: 'answer 503', contentType: 'text/plain' },
      { method: 'GET', target: '/0', status: 0 },
    ]);
    expect(troubles[0]!.body.toString()).toBe('sent');
    expect([...statuses().keys()].sort((a, b) => a - b)).toEqual([0, 200, 400, 503]);
  });

  test('leaves out what is held back, which the server never sees', async () => {
    const { address, requests } = await listening(() => 500);
    expect((await fetch(`${address}/held`)).status).toBe(403);
    expect(requests()).toBe(0);
  });

  test('takes a failure for an outside one only by its words', () => {
    expect(outsideFault({ status: 500, answer: '{"errors":["1 error occurred:\\n\\t* internal error\\n\\n"]}' })).toBeUndefined();
    expect(outsideFault({ status: 0, answer: 'connect ECONNREFUSED 127.0.0.1:1' })).toBeUndefined();
    expect(outsideFault({ status: 500, answer: '{"errors":["connect ECONNREFUSED 127.0.0.1:1"]}' })).toBeDefined();
  });

  test('is a line of the log that reports a fault of the server', () => {
    const faults = new LogFaults();
    for (const text of ['a [INFO]  unsealed\nb [ERROR] inter', 'nal error: request_id=1\nc [WARN]  the mount db/ is quarantined\nd'])
      faults.heard(text);
    expect(faults.lines).toEqual(['b [ERROR] internal error: request_id=1', 'c [WARN]  the mount db/ is quarantined']);
  });

  test('counts the operations that were reached and those that did what was asked', () => {
    const coverage = new Coverage({ paths: { '/kv/{path}': { get: {}, post: {} }, '/kv/config': { get: {} } } });
    coverage.answered('GET', '/v1/kv/config?list=true', 204);
    coverage.answered('POST', '/v1/kv/a/b', 400);
    coverage.answered('GET', '/v1/elsewhere', 200);
    expect([coverage.operations, coverage.reached, coverage.succeeded]).toEqual([3, 2, 1]);
    expect(coverage.refused().sort()).toEqual(['get /kv/{path}', 'post /kv/{path}']);
  });
});

describe('the document that is fuzzed', () => {
  const document = {
    paths: {
      '/db/roles/{name}': {
        parameters: [{ name: 'name', in: 'path', schema: { type: 'string' } }],
        post: {
          requestBody: {
            content: { 'application/json': { schema: { properties: { db_name: { type: 'string' }, ttl: { type: 'integer' } } } } },
          },
        },
      },
    },
  };

  test('has the names of what exists beside any text', () => {
    const item = withKnownNames(document, ['app'])['paths'] as typeof document.paths;
    const either = { anyOf: [{ type: 'string', enum: ['app'] }, { type: 'string' }] };
    expect(item['/db/roles/{name}'].parameters[0]!.schema).toEqual(either);
    expect(item['/db/roles/{name}'].post.requestBody.content['application/json'].schema.properties).toEqual({
      db_name: either,
      ttl: { type: 'integer' },
    });
  });

  test('has what the server was configured with as its examples', () => {
    const changed = withExamples(document, [{ path: 'db/roles/viewer', body: { db_name: 'app' } }]);
    expect(changed).toMatchObject({
      paths: {
        '/db/roles/{name}': {
          parameters: [{ examples: { 0: { value: 'viewer' } } }],
          post: { requestBody: { content: { 'application/json': { examples: { 0: { value: { db_name: 'app' } } } } } } },
        },
      },
    });
  });
});
