import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of the query protocol of IAM or STS. */
export interface SeenCall {
  readonly action: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** The id of the key that it was signed with. */
  readonly key: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Shape {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What becomes of a call: an answer of its own, nothing at all, or with undefined what the server behind makes of it. */
type Answer = (call: SeenCall) => Promise<Shape | 'silence' | undefined> | Shape | 'silence' | undefined;

const IAM = 'https://iam.amazonaws.com/doc/2010-05-08/';
const STS = 'https://sts.amazonaws.com/doc/2011-06-15/';

/** An error as IAM and STS answer it, word for word but for the ids. */
export function awsError(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}): Shape {
  const type = status < 500 ? 'Sender' : 'Receiver';
  return {
    status,
    headers: { 'x-amzn-requestid': REQUEST_ID, ...headers },
    body:
      `<ErrorResponse xmlns="${IAM}">\n  <Error>\n    <Type>${type}</Type>\n    <Code>${code}</Code>\n    <Message>${message}</Message>\n  </Error>\n` +
      `  <RequestId>${REQUEST_ID}</RequestId>\n</ErrorResponse>\n`,
  };
}

export const REQUEST_ID = '6f9c1d1e-0b6f-4b8e-9a53-3f1c3a8d2b10';

/** A result as IAM and STS answer it. */
export function awsResult(action: string, inner: string): Shape {
  const namespace = /^(Assume|GetFederation|GetCaller)/.test(action) ? STS : IAM;
  return {
    status: 200,
    headers: { 'x-amzn-requestid': REQUEST_ID },
    body:
      `<${action}Response xmlns="${namespace}"><${action}Result>${inner}</${action}Result>` +
      `<ResponseMetadata><RequestId>${REQUEST_ID}</RequestId></ResponseMetadata></${action}Response>`,
  };
}

export function credentialsXml(expires: Date): string {
  return (
    `<Credentials><AccessKeyId>ASIAEXAMPLEEXAMPLE00</AccessKeyId><SecretAccessKey>temporary-secret</SecretAccessKey>` +
    `<SessionToken>temporary-token</SessionToken><Expiration>${expires.toISOString()}</Expiration></Credentials>`
  );
}

/** Stands before another server, or before none, sees every call, and answers those that a test wants answered in its own way. */
export class AwsFront {
  readonly calls: SeenCall[] = [];
  readonly #server: Server;
  readonly #behind: string | undefined;
  readonly #answers = new Map<string, Answer>();
  #each: ((call: SeenCall, when: 'before' | 'after') => 'silence' | undefined) | undefined;
  #underWay = 0;

  private constructor(server: Server, behind: string | undefined) {
    this.#server = server;
    this.#behind = behind;
    server.on('request', (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        this.#underWay += 1;
        const served = this.#serve(Buffer.concat(chunks).toString(), incoming.headers).finally(() => (this.#underWay -= 1));
        void served.then(
          (shape) => {
            if (shape === 'silence') return;
            outgoing.writeHead(shape.status, { 'content-type': 'text/xml', ...shape.headers }).end(shape.body);
          },
          (error: unknown) => outgoing.writeHead(599).end(String(error)),
        );
      });
    });
  }

  static async start(behind?: string): Promise<AwsFront> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    return new AwsFront(server, behind);
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on, this answers this action. */
  on(action: string, answer: Answer): void {
    this.#answers.set(action, answer);
  }

  /** Looks at every call before it is passed on and before its answer is; may swallow either. */
  watch(each: (call: SeenCall, when: 'before' | 'after') => 'silence' | undefined): void {
    this.#each = each;
  }

  /** How many calls have no answer yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Passes everything on again, and forgets the calls. */
  reset(): void {
    this.calls.length = 0;
    this.#answers.clear();
    this.#each = undefined;
  }

  /** The parameters of the calls of an action. */
  sent(action: string): Readonly<Record<string, string>>[] {
    return this.calls.filter((call) => call.action === action).map((call) => call.parameters);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(body: string, headers: IncomingHttpHeaders): Promise<Shape | 'silence'> {
    const { Action: action = '', Version: _version, ...parameters } = Object.fromEntries(new URLSearchParams(body));
    const key = /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
    const call: SeenCall = { action, parameters, key, headers };
    this.calls.push(call);
    if (this.#each?.(call, 'before')) return 'silence';
    const answer = (await this.#answers.get(action)?.(call)) ?? (await this.#forward(body, headers));
    return this.#each?.(call, 'after') ?? answer;
  }

  async #forward(body: string, headers: IncomingHttpHeaders): Promise<Shape> {
    if (this.#behind === undefined) return awsError(400, 'InvalidAction', 'Could not find operation for this test');
    return new Promise((resolve, reject) => {
      // The signature covers the name of the host, which stays that of this server.
      const outgoing = request(this.#behind!, { method: 'POST', headers, agent: false }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const id = answer.headers['x-amzn-requestid'];
          const headers = typeof id === 'string' ? { 'x-amzn-requestid': id } : {};
          resolve({ status: answer.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString() });
        });
      });
      outgoing.once('error', reject).end(body);
    });
  }
}
