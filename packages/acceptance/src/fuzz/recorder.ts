import { Agent, createServer, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';

/** A call that the server answered with 5xx, too late or not at all. */
export interface Trouble {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly answer: string;
  readonly millis: number;
}

/** A loopback listener before a server, which passes every call on and keeps those that went wrong. */
export interface Recorder {
  readonly address: string;
  requests(): number;
  /** How often each status was answered. */
  statuses(): ReadonlyMap<number, number>;
  readonly troubles: readonly Trouble[];
  stop(): Promise<void>;
}

const SLOW_MILLIS = 30_000;

/** Answers that end with their caller: their head is all that is looked at. */
const endless = /^\/v1\/sys\/(?:events|monitor)\b/;

/** @param held says why a call is not passed on; such calls are answered 403. @param answered is called after each answer */
export async function startRecorder(
  server: string,
  held: (method: string, target: string, body: Buffer) => string | undefined,
  answered: (method: string, target: string, status: number) => void,
): Promise<Recorder> {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(server);
  const statuses = new Map<number, number>();
  const troubles: Trouble[] = [];
  let requests = 0;

  const pass = (call: IncomingMessage, body: Buffer): Promise<{ status: number; headers: OutgoingHttpHeaders; answer: Buffer }> =>
    new Promise((resolve) => {
      const failed = (error: Error): void => resolve({ status: 0, headers: {}, answer: Buffer.from(error.message) });
      const headers = { ...call.headers, host: `${hostname}:${port}` };
      const passed = request({ host: hostname, port, agent, method: call.method, path: call.url, headers }, (response) => {
        const chunks: Buffer[] = [];
        const answered = (): void =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, answer: Buffer.concat(chunks) });
        response
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', answered)
          .on('error', failed);
        if (response.headers['x-accel-buffering'] === 'no' && endless.test(call.url ?? '')) {
          // It would go on for as long as somebody reads it.
          answered();
          response.destroy();
        }
      });
      passed.on('error', failed).end(body);
    });

  const listener = createServer((call, response) => {
    const chunks: Buffer[] = [];
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('error', () => response.destroy());
    call.on('end', () => {
      const body = Buffer.concat(chunks);
      const [method, target] = [call.method ?? '', call.url ?? ''];
      const reason = held(method, target, body);
      if (reason !== undefined) {
        response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify({ errors: [reason] }));
        return;
      }
      const began = performance.now();
      requests += 1;
      void pass(call, body).then(({ status, headers, answer }) => {
        const millis = Math.round(performance.now() - began);
        answered(method, target, status);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 0 || status >= 500 || millis > SLOW_MILLIS)
          troubles.push({
            method,
            target,
            body,
            contentType: call.headers['content-type'],
            status,
            answer: answer.toString().trim(),
            millis,
          });
        if (status === 0) response.destroy();
        else response.writeHead(status, withoutFraming(headers)).end(answer);
      });
    });
  });
  listener.requestTimeout = 0;
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port: own } = listener.address() as { port: number };
  return {
    address: `http://127.0.0.1:${own}`,
    requests: () => requests,
    statuses: () => statuses,
    troubles,
    stop: () =>
      new Promise((resolve) => {
        agent.destroy();
        listener.close(() => resolve());
        listener.closeAllConnections();
      }),
  };
}

/** The body goes on whole, whatever way it came. */
function withoutFraming(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const kept = { ...headers };
  for (const name of ['transfer-encoding', 'connection', 'keep-alive', 'content-length']) delete kept[name];
  return kept;
}
