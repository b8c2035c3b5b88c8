import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SealFailure } from '@strongroom/seal-sdk';

/** As KMS says it. moto never refuses, throttles or goes away. */
const ERRORS: Readonly<Record<Exclude<SealFailure, 'away'>, { readonly __type: string; readonly message: string }>> = {
  permission: {
    __type: 'AccessDeniedException',
    message: 'User: arn:aws:iam::123456789012:user/strongroom is not authorized to perform: kms:Encrypt',
  },
  throttled: { __type: 'ThrottlingException', message: 'Rate exceeded' },
};

/** A server before moto that fails on request. */
export async function failingFront(endpoint: string) {
  let failure: SealFailure | undefined;
  const server = createServer((incoming, response) => {
    if (failure === 'away') return void incoming.socket.destroy();
    if (failure !== undefined) {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': 'r-1' });
      return void response.end(JSON.stringify(ERRORS[failure]));
    }
    const passed = request(new URL(incoming.url ?? '/', endpoint), { method: incoming.method, headers: incoming.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.once('error', () => response.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (how: SealFailure | undefined) => {
      failure = how;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
